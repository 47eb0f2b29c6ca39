import type { ConsoleFile } from "@sluice/contract";
import { columnsOf, Failure, type StoredFile, storedFileId, withoutUndefined } from "#core/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { mayReadContent, type Viewer, visiblePerson } from "./callers.ts";
import { type Handlers, oneWorkspace, pageSize, type StreamingCall } from "./calls.ts";
import { keyNames } from "./key-names.ts";

export function fileHandlers(dependencies: ConsoleDependencies) {
  const { workspaceFiles, people } = dependencies;
  const { namesOf } = keyNames(dependencies);
  return {
    async "files.list"(call) {
      const { key: keyId, purpose, cursor, limit } = call.query;
      const { id: workspaceId } = oneWorkspace(call);
      const filter = {
        workspaceId,
        ...withoutUndefined({ keyId, purpose, visiblePerson: visiblePerson(call) ?? undefined }),
      };
      const place = { after: cursorIn(cursor), limit: limit ?? pageSize, order: "newest first" } as const;
      const [{ files, next }, totals, quota] = await Promise.all([
        workspaceFiles.list(filter, place),
        workspaceFiles.totals(filter),
        workspaceFiles.quota(workspaceId),
      ]);
      const names = await namesOf(files.map((file) => file.keyId));
      const readable = await readableFiles(call, dependencies, files);
      const data = files.map((file) => fileView(file, names.get(file.keyId) ?? "", readable.has(file)));
      const sums = { total: totals.files, total_bytes: totals.bytes };
      return { data, next, ...sums, used_bytes: quota.usedBytes, quota_bytes: quota.quotaBytes };
    },
    async "files.remove"(call) {
      const file = await visibleFile(call, dependencies, call.params.file);
      const { id, workspaceId } = await workspaceFiles.delete(file.workspaceId, file.id);
      await people.note({ action: "remove", object: `file file-${id}`, workspaceId }, call.auditSource);
    },
  } satisfies Partial<Handlers>;
}

type FileCall = Viewer & Pick<StreamingCall, "workspace">;

/** `id` in any dialect. Throws `not_found` also for a file of another person's key. */
export async function visibleFile(call: FileCall, { workspaceFiles }: ConsoleDependencies, id: string) {
  const file = await workspaceFiles.get(oneWorkspace(call).id, storedFileId(id));
  const own = visiblePerson(call);
  if (own === null || (file.personId ?? own) === own) return file;
  throw new Failure("not_found", "There is no file with this id.", { param: "id" });
}

/** The files that the caller may download. */
async function readableFiles(
  viewer: Viewer,
  dependencies: ConsoleDependencies,
  files: readonly StoredFile[],
): Promise<ReadonlySet<StoredFile>> {
  const readable = new Set<StoredFile>();
  const sharedKeys = new Map<string, Promise<boolean>>();
  for (const file of files) {
    const { keyId, personId } = file;
    const may = (personId === null ? sharedKeys.get(keyId) : undefined) ?? mayReadContent(viewer, dependencies, file);
    if (personId === null) sharedKeys.set(keyId, may);
    if (await may) readable.add(file);
  }
  return readable;
}

/** The id of the last file of the page before. */
function cursorIn(cursor: string | undefined): string | null {
  if (cursor === undefined) return null;
  const id = storedFileId(`files/${cursor}`);
  if (id !== null) return id;
  throw new Failure("invalid_request", "Invalid cursor: it is not from this list.", { param: "cursor" });
}

function fileView(file: StoredFile, keyName: string, downloadable: boolean): ConsoleFile {
  const { purpose, filename, mediaType, sizeBytes, createdAt, expiresAt } = file;
  return {
    id: `file-${file.id}`,
    key: { id: file.keyId, name: keyName },
    ...columnsOf({ purpose, filename, mediaType, sizeBytes, createdAt, expiresAt }),
    sha256: file.sha256 ?? "",
    downloadable,
  };
}
