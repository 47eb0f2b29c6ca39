import { abortSignalOf, bounds, Failure, type FileUpload, type Principal } from "#core/index.ts";
import { mediaTypeOf } from "#files/index.ts";
import { isObject } from "#protocols/index.ts";
import { admitted, authenticatedForUpload, withKey } from "../../authenticated.ts";
import { readControlJson } from "../../body.ts";
import type { Exchange } from "../../dependencies.ts";
import { originOf } from "../../request-parts.ts";
import { json } from "../../respond.ts";
import { spoolBody } from "../../spooled-body.ts";
import { checkUpload, cleanFilename, fileBody, ownerOf, requireUploads } from "./accept-file.ts";
import { geminiFile, geminiFileLifeMs } from "./gemini-files.ts";

/**
 * POST /upload/v1beta/files: Google's resumable protocol. `start` creates an upload, and its address is the gateway's own. Then pieces
 * arrive in order, with the key or the token in the address; each is kept whole or not at all. `query` returns where to continue. Source: Gemini API docs, "Files API".
 */
export const uploadGeminiFile = withKey((exchange, principal) => {
  requireUploads(exchange, principal);
  return admitted(exchange, principal, () => {
    const command = exchange.request.headers.get("x-goog-upload-command") ?? "";
    const words = new Set(command.split(",").map((word) => word.trim().toLowerCase()));
    if (words.has("start")) return start(exchange, principal, words);
    return proceed(exchange, principal, words);
  });
}, authenticatedForUpload);

async function start(exchange: Exchange, principal: Principal, words: ReadonlySet<string>): Promise<Response> {
  const { request, dependencies } = exchange;
  // The token of one upload must not begin another: the new one would have a new token.
  if (new URLSearchParams(exchange.query).has("upload_id")) {
    const why = "This is the address of an upload that has begun. Begin another one at the address without a query.";
    throw new Failure("invalid_request", why, { param: "upload_id" });
  }
  if (words.size > 1 || request.headers.get("x-goog-upload-protocol")?.toLowerCase() !== "resumable") {
    const why = "Only resumable uploads are supported: send X-Goog-Upload-Protocol: resumable and the command start.";
    throw new Failure("invalid_request", why, { param: "x-goog-upload-protocol" });
  }
  const file = readFile((await readControlJson(exchange, principal))["file"]);
  const declared = request.headers.get("x-goog-upload-header-content-length");
  const sizeBytes = declared === null ? null : Number(declared);
  if (sizeBytes !== null && (!Number.isSafeInteger(sizeBytes) || sizeBytes < 1)) {
    const why = "X-Goog-Upload-Header-Content-Length must be an integer above 0.";
    throw new Failure("invalid_request", why, { param: "x-goog-upload-header-content-length" });
  }
  const type = file.mimeType ?? request.headers.get("x-goog-upload-header-content-type");
  const sentName = request.headers.get("x-goog-upload-file-name");
  const filename = cleanFilename(file.displayName ?? sentName ?? "");
  const mediaType = mediaTypeOf(sentName ?? filename, type);
  const facts = { purpose: "user_data", filename, mediaType, sizeBytes, fileLifeMs: geminiFileLifeMs };
  const upload = await dependencies.files.uploads.create(ownerOf(principal), facts);
  const token = dependencies.uploadTokens.issue(upload.id, principal.key.id);
  const query = `upload_id=${upload.id}&upload_protocol=resumable&upload_token=${token}`;
  return answer(upload, 0, { "x-goog-upload-url": `${originOf(exchange)}${exchange.path}?${query}` });
}

function readFile(file: unknown): { readonly displayName: string | null; readonly mimeType: string | null } {
  if (!isObject(file)) return { displayName: null, mimeType: null };
  if (file["name"] !== undefined && file["name"] !== "") {
    throw new Failure("invalid_request", "The gateway names files. Leave file.name out.", { param: "file.name" });
  }
  const textOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);
  return {
    displayName: textOf(file["displayName"] ?? file["display_name"]),
    mimeType: textOf(file["mimeType"] ?? file["mime_type"]),
  };
}

/** Uploads that a piece is being written to, in this process. */
const writing = new Set<string>();

async function proceed(exchange: Exchange, principal: Principal, words: ReadonlySet<string>): Promise<Response> {
  const { uploads } = exchange.dependencies.files;
  const id = new URLSearchParams(exchange.query).get("upload_id") ?? "";
  if (words.has("query")) {
    const queried = await uploads.get(principal.workspace.id, id);
    return answer(queried, await received(exchange, queried));
  }
  const upload = await uploads.getPending(principal.workspace.id, id);
  if (words.has("cancel")) return answer(await uploads.cancel(upload), 0);
  if (!words.has("upload") && !words.has("finalize")) {
    const why = "X-Goog-Upload-Command must be start, upload, finalize, query or cancel.";
    throw new Failure("invalid_request", why, { param: "x-goog-upload-command" });
  }
  if (writing.has(id)) throw new Failure("conflict", "Another piece of this upload is arriving.");
  writing.add(id);
  try {
    if (words.has("upload")) await addPiece(exchange, principal, upload);
    const size = await received(exchange, upload);
    return words.has("finalize") ? await finalize(exchange, principal, upload) : answer(upload, size);
  } finally {
    writing.delete(id);
  }
}

/** Throws Failure invalid_request for a piece at a wrong offset. */
async function addPiece(exchange: Exchange, principal: Principal, upload: FileUpload): Promise<void> {
  const { dependencies, request } = exchange;
  const expected = await received(exchange, upload);
  const offset = request.headers.get("x-goog-upload-offset") ?? "";
  if (!/^\d{1,15}$/.test(offset) || Number(offset) !== expected) {
    const why = `The piece is at offset ${offset.slice(0, 20)}, but ${expected} bytes have arrived.`;
    throw new Failure("invalid_request", why, { param: "x-goog-upload-offset" });
  }
  const spooled = await spoolBody(exchange, principal, fileBody);
  try {
    // The last piece may be empty.
    if (spooled.size === 0) return;
    const signal = abortSignalOf(request.signal);
    const bytes = spooled.read(0, spooled.size);
    await dependencies.files.uploads.addPart(ownerOf(principal), upload, spooled.size, bytes, signal);
  } finally {
    spooled.discard();
  }
}

async function finalize(exchange: Exchange, principal: Principal, upload: FileUpload): Promise<Response> {
  const { uploads } = exchange.dependencies.files;
  const parts = await uploads.parts(upload);
  if (parts.length === 0) throw new Failure("invalid_request", "The file is empty.", { param: "file" });
  await checkUpload(exchange, principal, upload, parts);
  const signal = abortSignalOf(exchange.request.signal);
  const { file } = await uploads.complete(ownerOf(principal), upload, parts, { md5: null, signal });
  const made = json({ file: geminiFile(exchange, file) });
  made.headers.set("x-goog-upload-status", "final");
  return made;
}

async function received({ dependencies: { files } }: Exchange, upload: FileUpload): Promise<number> {
  return (await files.uploads.parts(upload)).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}

const statuses = { pending: "active", completed: "final", cancelled: "cancelled", expired: "cancelled" } as const;

function answer({ status }: FileUpload, size: number, more: Readonly<Record<string, string>> = {}): Response {
  return new Response(null, {
    headers: {
      "x-goog-upload-status": statuses[status],
      "x-goog-upload-size-received": String(size),
      "x-goog-upload-chunk-granularity": String(bounds.geminiPieceBytes),
      ...more,
    },
  });
}
