import type { ConsoleDependencies } from "../dependencies.ts";
import { checkTask } from "../handlers/callers.ts";
import { oneWorkspace, type StreamingCall } from "../handlers/calls.ts";
import { isHeldAlready } from "../pages.ts";

/** The video of a task: our copy, or the vendor's while its link lives. */
export async function taskContent(call: StreamingCall, { videos }: ConsoleDependencies): Promise<Response> {
  const { request, params, patient } = call;
  const workspace = oneWorkspace(call);
  const id = params["task"] ?? "";
  await checkTask(call, videos, workspace, id);
  patient();
  const content = await videos.content(
    workspace.id,
    id,
    { range: request.headers.get("range"), still: null },
    request.signal,
  );
  return shown(request, id, content);
}

/** The bytes of an asset that lives with us. */
export async function assetContent(call: StreamingCall, { assets }: ConsoleDependencies): Promise<Response> {
  const { request, params, patient } = call;
  const workspace = oneWorkspace(call);
  const id = params["asset"] ?? "";
  patient();
  const content = await assets.content(workspace.id, id, request.headers.get("range"));
  return shown(request, id, content);
}

interface Content {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ReadableStream<Uint8Array> | null;
}

/**
 * Bytes that strangers chose, on the console's own origin: shown in place only as the media that we know, never as a page, and
 * without scripts or an origin of their own. A browser may keep them but has to ask each time, so that nobody sees them who
 * may not any more. What is behind an id never changes, so that a range is right whatever `if-range` says.
 */
function shown(request: Request, id: string, { status, headers, body }: Content): Response {
  const type = headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const extension = extensions.get(type);
  const out = new Headers(headers);
  if (status === 200 || status === 206) out.set("content-type", extension === undefined ? unknownType : type);
  const place = extension === undefined ? "attachment" : "inline";
  out.set("content-disposition", `${place}; filename="${id.replaceAll(/[^\w-]/g, "_")}.${extension ?? "bin"}"`);
  out.set("content-security-policy", "sandbox; default-src 'none'");
  out.set("x-content-type-options", "nosniff");
  out.set("cache-control", "private, no-cache");
  const etag = headers["etag"];
  if (etag !== undefined && status < 300 && isHeldAlready(request, etag)) {
    leave(body);
    out.delete("content-length");
    out.delete("content-range");
    return new Response(null, { status: 304, headers: out });
  }
  if (request.method !== "HEAD") return new Response(body, { status, headers: out });
  leave(body);
  return new Response(null, { status, headers: out });
}

const unknownType = "application/octet-stream";
const extensions: ReadonlyMap<string, string> = new Map([
  ["image/png", "png"],
  ["image/jpeg", "jpg"],
  ["image/gif", "gif"],
  ["image/webp", "webp"],
  ["image/bmp", "bmp"],
  ["image/tiff", "tiff"],
  ["image/heic", "heic"],
  ["video/mp4", "mp4"],
  ["video/webm", "webm"],
  ["video/quicktime", "mov"],
  ["audio/wav", "wav"],
  ["audio/flac", "flac"],
  ["audio/ogg", "ogg"],
  ["audio/mpeg", "mp3"],
  ["audio/mp4", "m4a"],
]);

/** Says to whoever sends it that nobody will read it. */
function leave(body: ReadableStream<Uint8Array> | null): void {
  body?.cancel().catch(() => undefined);
}
