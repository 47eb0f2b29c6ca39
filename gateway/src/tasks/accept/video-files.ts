import { bounds, Failure, type StoredFile, storedFileId, type VideoMaterial } from "#core/index.ts";
import type { TaskDependencies } from "../dependencies.ts";
import type { VideoFile } from "./validate-video.ts";

/**
 * Checks that the files that a request uses as material are its caller's, of the right types, and small enough to go inside the request.
 * Throws Failure not_found, file_expired, guardrail_blocked or invalid_request.
 */
export async function checkFiles(
  { filesNamed }: Pick<TaskDependencies, "filesNamed">,
  call: Parameters<TaskDependencies["filesNamed"]>[0],
  named: readonly VideoFile[],
): Promise<void> {
  if (named.length === 0) return;
  const files = await filesNamed(
    call,
    named.map(({ id, param }) => ({ id, param, kind: "file" })),
  );
  for (const { id, role, param } of named) {
    const { mediaType } = files.get(id) as StoredFile;
    const type = materialTypeOf(mediaType);
    if (type === "image" || (type !== null && role === "reference")) continue;
    const expected = role === "reference" ? "a picture, a video or a sound" : "a picture; name videos in `references`";
    const message = `The parameter "${param}" names a file of the type ${mediaType}. It must be ${expected}.`;
    throw new Failure("invalid_request", message, { param });
  }
  const bytes = [...new Map([...files.values()].map((file) => [file.id, file.sizeBytes])).values()];
  const sum = bytes.reduce((total, size) => total + size, 0);
  if (sum <= bounds.inlinedFilesBytesMax) return;
  const message = `The files of this request have ${sum} bytes; a video task can use at most ${bounds.inlinedFilesBytesMax}. Send material by its URL or as an asset.`;
  throw new Failure("invalid_request", message, { param: named[0]?.param ?? null });
}

/** The file, for an attempt. Throws Failure not_found. */
export async function findFile(
  { files }: Pick<TaskDependencies, "files">,
  workspaceId: string,
  { id, param }: VideoFile,
): Promise<{ readonly file: StoredFile; readonly type: VideoMaterial["type"] }> {
  const [file] = await files.find(workspaceId, [storedFileId(id) ?? ""]);
  const type = file?.status === "ready" ? materialTypeOf(file.mediaType) : null;
  if (file !== undefined && type !== null) return { file, type };
  const message = `The file "${id}" was deleted or has expired before the task was sent.`;
  throw new Failure("not_found", message, { param });
}

function materialTypeOf(mediaType: string): VideoMaterial["type"] | null {
  const [type] = mediaType.split("/", 1);
  return type === "image" || type === "video" || type === "audio" ? type : null;
}
