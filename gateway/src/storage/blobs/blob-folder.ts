import { linkSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Ids } from "#ports/index.ts";
import type { Database } from "../database/database.ts";
import { firstSystemValue } from "../database/system-values.ts";
import { DataUnusable } from "../disk/data-directory.ts";
import { ignoreExisting, unlessMissing, writeLine } from "../disk/files.ts";

export interface BlobFolderOptions {
  readonly directory: string;
  readonly database: Database;
  readonly ids: Pick<Ids, "next">;
}

/**
 * Throws DataUnusable unless all processes of the database use this folder of blobs. The folder's id is in a file; the database remembers
 * the first one. So a machine with a folder of its own is detected.
 */
export async function checkBlobFolder({ directory, database, ids }: BlobFolderOptions): Promise<void> {
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

/** The permanent id of the folder. The first process creates it; the file is always complete. */
function folderId(directory: string, ids: Pick<Ids, "next">): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, fileName);
  const known = textOf(path);
  if (known !== null) return known;
  const draft = join(directory, `${fileName}.${ids.next("")}`);
  writeLine(draft, ids.next("blobs_"), "wx");
  try {
    // Another process was first.
    ignoreExisting(() => linkSync(draft, path));
  } finally {
    rmSync(draft, { force: true });
  }
  return textOf(path) ?? folderId(directory, ids);
}

function textOf(path: string): string | null {
  return unlessMissing(() => readFileSync(path, "utf8").trim());
}
