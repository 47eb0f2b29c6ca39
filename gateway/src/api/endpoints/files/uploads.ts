import { abortSignalOf, bounds, Failure, type FileUpload, type StoredFile, storedFileId } from "#core/index.ts";
import { mediaTypeOf } from "#files/index.ts";
import { admitted, withKey } from "../../authenticated.ts";
import { readControlJson } from "../../body.ts";
import { idBehind } from "../../request-parts.ts";
import { acceptForm, checkUpload, cleanFilename, filePartBody, ownerOf, requireUploads } from "./accept-file.ts";
import { openAiFile, readLife, readPurpose } from "./openai-files.ts";

/** POST /v1/uploads: begins a file that arrives in parts. */
export const createUpload = withKey((exchange, principal) => {
  requireUploads(exchange, principal);
  return admitted(exchange, principal, async () => {
    const { bytes, filename, mime_type, purpose, expires_after } = await readControlJson(exchange, principal);
    if (typeof bytes !== "number" || !Number.isSafeInteger(bytes) || bytes < 1) {
      throw new Failure("invalid_request", "bytes must be an integer above 0.", { param: "bytes" });
    }
    if (typeof filename !== "string" || filename === "") {
      throw new Failure("missing_required_parameter", "filename is missing.", { param: "filename" });
    }
    if (typeof mime_type !== "string" || mime_type === "") {
      throw new Failure("missing_required_parameter", "mime_type is missing.", { param: "mime_type" });
    }
    const { anchor, seconds } = readExpiry(expires_after);
    const kind = readPurpose(purpose);
    const life = readLife(anchor, seconds, kind);
    const name = cleanFilename(filename);
    const facts = { purpose: kind, filename: name, mediaType: mediaTypeOf(name, mime_type), sizeBytes: bytes };
    const { dependencies, requestId } = exchange;
    await dependencies.relay.checkTexts({ requestId, principal }, { filename: name }, "names of files");
    const upload = { ...facts, fileLifeMs: life === null ? null : life * 1_000 };
    return openAiUpload(await dependencies.files.uploads.create(ownerOf(principal), upload), null);
  });
});

function readExpiry(value: unknown): { readonly anchor: string | undefined; readonly seconds: string | undefined } {
  if (value === undefined || value === null) return { anchor: undefined, seconds: undefined };
  const { anchor, seconds } = value as { anchor?: unknown; seconds?: unknown };
  return {
    anchor: anchor === undefined ? undefined : String(anchor),
    seconds: seconds === undefined ? undefined : String(seconds),
  };
}

/** POST /v1/uploads/{id}/parts. */
export const addUploadPart = withKey(async (exchange, principal) => {
  const { uploads } = exchange.dependencies.files;
  const upload = await uploads.get(principal.workspace.id, uploadIdOf(exchange));
  const form = { part: "data", names: [], rules: filePartBody };
  const part = await acceptForm(exchange, principal, form, ({ start, end }, open, signal) =>
    uploads.addPart(ownerOf(principal), upload, end - start, open(), signal),
  );
  return {
    id: `part_${part.id}`,
    object: "upload.part",
    created_at: Math.floor(part.createdAt / 1_000),
    upload_id: upload.id,
  };
});

/** POST /v1/uploads/{id}/complete: makes the file of the parts. */
export const completeUpload = withKey((exchange, principal) => {
  requireUploads(exchange, principal);
  return admitted(exchange, principal, async () => {
    const { uploads } = exchange.dependencies.files;
    const upload = await uploads.get(principal.workspace.id, uploadIdOf(exchange));
    const { part_ids, md5 } = await readControlJson(exchange, principal);
    if (!Array.isArray(part_ids) || part_ids.length === 0 || part_ids.length > bounds.filePartsMax) {
      throw new Failure("invalid_request", "part_ids must be a list of the upload's parts.", { param: "part_ids" });
    }
    if (md5 !== undefined && md5 !== null && (typeof md5 !== "string" || !/^[0-9a-f]{32}$/i.test(md5))) {
      throw new Failure("invalid_request", "md5 must be an MD5 in hex.", { param: "md5" });
    }
    const ids = part_ids.map((id) => storedFileId(String(id).replace(/^part_/, "file_")) ?? "");
    const parts = await uploads.choose(upload, ids);
    await checkUpload(exchange, principal, upload, parts);
    const signal = abortSignalOf(exchange.request.signal);
    const made = await uploads.complete(ownerOf(principal), upload, parts, { md5: md5 ?? null, signal });
    return openAiUpload(made.upload, made.file);
  });
});

/** POST /v1/uploads/{id}/cancel. */
export const cancelUpload = withKey(async (exchange, { workspace }) => {
  const { uploads } = exchange.dependencies.files;
  return openAiUpload(await uploads.cancel(await uploads.get(workspace.id, uploadIdOf(exchange))), null);
});

function uploadIdOf(exchange: Parameters<typeof idBehind>[1]): string {
  return idBehind("/v1/uploads/", exchange);
}

/** Times are Unix seconds. */
function openAiUpload(upload: FileUpload, file: StoredFile | null): object {
  return {
    id: upload.id,
    object: "upload",
    bytes: upload.sizeBytes,
    created_at: Math.floor(upload.createdAt / 1_000),
    expires_at: Math.floor(upload.expiresAt / 1_000),
    filename: upload.filename,
    purpose: upload.purpose,
    mime_type: upload.mediaType,
    status: upload.status,
    file: file === null ? null : openAiFile(file),
  };
}
