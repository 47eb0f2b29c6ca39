import type { ConsoleFile } from "@sluice/contract";
import { columnsOf, Failure, type StoredFile, storedFileId, withoutUndefined } from "#core/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { type Handlers, oneWorkspace, pageSize } from "./calls.ts";
import { keyNames } from "./key-names.ts";

export function fileHandlers(dependencies: ConsoleDependencies) {
  const { workspaceFiles, people } = dependencies;
  const { namesOf } = keyNames(dependencies);
  return {
    async "files.list"(call) {
      const { key, purpose, cursor, limit } = call.query;
      const filter = { workspaceId: oneWorkspace(call).id, ...withoutUndefined({ keyId: key, purpose }) };
      const place = { after: cursorIn(cursor), limit: limit ?? pageSize, order: "newest first" } as const;
      const [{ files, next }, totals] = await Promise.all([
        workspaceFiles.list(filter, place),
        workspaceFiles.totals(filter),
      ]);
      const names = await namesOf(files.map(({ keyId }) => keyId));
      const data = files.map((file) => fileView(file, names.get(file.keyId) ?? ""));
      return { data, next, total: totals.files, total_bytes: totals.bytes };
    },
    async "files.remove"(call) {
      const { id: workspaceId } = oneWorkspace(call);
      const { id } = await workspaceFiles.delete(workspaceId, storedFileId(call.params.file));
      await people.note({ action: "remove", object: `file file-${id}`, workspaceId }, call.auditSource);
    },
  } satisfies Partial<Handlers>;
}

/** The id of the last file of the page before. */
function cursorIn(cursor: string | undefined): string | null {
  if (cursor === undefined) return null;
  const id = storedFileId(`files/${cursor}`);
  if (id !== null) return id;
  throw new Failure("invalid_request", "Invalid cursor: it is not from this list.", { param: "cursor" });
}

function fileView(file: StoredFile, keyName: string): ConsoleFile {
  const { purpose, filename, mediaType, sizeBytes, createdAt, expiresAt } = file;
  return {
    id: `file-${file.id}`,
    key: { id: file.keyId, name: keyName },
    ...columnsOf({ purpose, filename, mediaType, sizeBytes, createdAt, expiresAt }),
    sha256: file.sha256 ?? "",
  };
}
