import { linkSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Ids } from "#ports/index.ts";
import type { Database } from "../database/database.ts";
import { firstSystemValue } from "../database/system-values.ts";
import { DataUnusable } from "../disk/data-directory.ts";
import { unlessMissing, unlessThere, writeLine } from "../disk/files.ts";

export interface BlobFolderOptions {
  readonly directory: string;
  readonly database: Database;
  readonly ids: Pick<Ids, "next">;
}

/**
 * Makes sure that a folder of blobs is the one that all processes on the database use. A folder has an id in a file of its own;
 * the first one that is shown to a database is written down there. So processes on one machine, or on one file system of
 * several, agree, and a machine that has a folder of its own is found out before it answers for what it does not have. Throws
 * DataUnusable then.
 */
export async function refuseOtherBlobFolder({ directory, database, ids }: BlobFolderOptions): Promise<void> {
  const id = folderId(directory, ids);
  const value = await firstSystemValue(database.kysely, "blobs.folder", id);
  if (value === id) return;
  throw new DataUnusable(
    `The blobs of this installation are in a folder of another machine or disk, not in ${directory}. ` +
      "Set SLUICE_S3_BUCKET for all its machines, or give them one folder (copy it here if it moved); " +
      "SLUICE_BLOBS=separate does without.",
  );
}

const fileName = "folder-id";

/** What the folder is called, for good. Whoever comes first names it; a file with the name is always whole. */
function folderId(directory: string, ids: Pick<Ids, "next">): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, fileName);
  const known = textOf(path);
  if (known !== null) return known;
  const draft = join(directory, `${fileName}.${ids.next("")}`);
  writeLine(draft, ids.next("blobs_"), "wx");
  try {
    // There already: another process was first.
    unlessThere(() => linkSync(draft, path));
  } finally {
    rmSync(draft, { force: true });
  }
  return textOf(path) ?? folderId(directory, ids);
}

function textOf(path: string): string | null {
  return unlessMissing(() => readFileSync(path, "utf8").trim());
}
