import { abortSignalOf, bounds, Failure, type FileUpload, type Principal, type StoredFile } from "#core/index.ts";
import { type FileOwner, mediaTypeOf } from "#files/index.ts";
import { mayCall } from "#identity/index.ts";
import { readMultipartType } from "#protocols/index.ts";
import { admitted } from "../../authenticated.ts";
import type { BodyRules } from "../../body.ts";
import type { Exchange } from "../../dependencies.ts";
import { requirePlain, spoolForm } from "../../spooled-body.ts";
import { FileForm, type ReadFile } from "./file-form.ts";

export const fileBody: BodyRules = { bytesMax: bounds.fileFormBytesMax, packed: false };
export const filePartBody: BodyRules = { bytesMax: bounds.filePartFormBytesMax, packed: false };

/** Facts of a file other than its bytes. */
export type FileFacts = Pick<StoredFile, "purpose" | "filename" | "mediaType" | "expiresAt">;

export function ownerOf({ workspace, key, person }: Principal): FileOwner {
  return { workspaceId: workspace.id, keyId: key.id, personId: person };
}

/** Throws Failure forbidden for a key that may call no model: it can use no file. */
export function requireUploads({ dependencies }: Exchange, principal: Principal): void {
  for (const { name } of dependencies.configSnapshot().models.values()) if (mayCall(principal, name)) return;
  throw new Failure("forbidden", "This key may use no model, so it cannot upload files.");
}

/**
 * Spools a form with one file as it arrives, then stores the file. `factsOf` reads and checks the fields. Counts as one request in the
 * limits of its caller.
 */
export function acceptForm(
  exchange: Exchange,
  principal: Principal,
  form: { readonly part: string; readonly names: readonly string[]; readonly rules: BodyRules },
  store: (read: ReadFile, open: () => ReadableStream<Uint8Array>, signal: AbortSignal) => Promise<StoredFile>,
): Promise<StoredFile> {
  const { request } = exchange;
  requireUploads(exchange, principal);
  const wanted = `Send a form: \`content-type: multipart/form-data\` with the file as \`${form.part}\`.`;
  const { boundary } = readMultipartType(request.headers.get("content-type"), wanted);
  // Checked first: a refused upload counts against no limit.
  requirePlain(request.headers);
  return admitted(exchange, principal, async () => {
    const reader = new FileForm(form.part, form.names);
    const { spooled, read } = await spoolForm(exchange, boundary, principal, reader, form.rules);
    try {
      return await store(read, () => spooled.read(read.start, read.end), abortSignalOf(request.signal));
    } finally {
      spooled.discard();
    }
  });
}

/** Checks a whole file with the workspace's guardrails, then stores it. Throws Failure. */
export async function storeFile(
  exchange: Exchange,
  principal: Principal,
  facts: FileFacts,
  { size, open }: { readonly size: number; readonly open: () => ReadableStream<Uint8Array> },
  signal: AbortSignal,
): Promise<StoredFile> {
  const { files, relay } = exchange.dependencies;
  if (size > bounds.fileBytesMax) throw tooLarge();
  const { requestId } = exchange;
  await relay.checkFile({ requestId, principal }, { filename: facts.filename, open });
  return files.create(ownerOf(principal), { ...facts, sizeBytes: size }, open(), signal);
}

/** Checks a file that arrived in parts, before it is completed. Throws Failure. */
export async function checkUpload(
  { dependencies: { files, relay }, requestId }: Exchange,
  principal: Principal,
  { filename }: FileUpload,
  parts: readonly StoredFile[],
): Promise<void> {
  await relay.checkFile({ requestId, principal }, { filename, open: () => files.uploads.read(parts) });
}

function tooLarge(): Failure {
  return new Failure("request_too_large", `The file is larger than ${bounds.fileBytesMax} bytes.`, { param: "file" });
}

/** The name without folders and control characters, within its bound. */
export function cleanFilename(filename: string): string {
  const own = filename.slice(Math.max(filename.lastIndexOf("/"), filename.lastIndexOf("\\")) + 1);
  const plain = own.replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, " ").trim();
  const short = [...plain.slice(0, bounds.filenameCharactersMax * 2)].slice(0, bounds.filenameCharactersMax).join("");
  return short === "" || short === "." || short === ".." ? "file" : short;
}

/** Name and type of a form's file. */
export function namesOf({ filename, contentType }: ReadFile): Pick<FileFacts, "filename" | "mediaType"> {
  const name = cleanFilename(filename);
  return { filename: name, mediaType: mediaTypeOf(name, contentType) };
}

/** Seconds in a field, within the vendor's range; null: it is absent. Throws Failure invalid_request. */
export function readSeconds(value: string | undefined, param: string, min: number, max: number): number | null {
  if (value === undefined || value === "") return null;
  const seconds = /^\d{1,12}$/.test(value) ? Number(value) : Number.NaN;
  if (seconds >= min && seconds <= max) return seconds;
  throw new Failure("invalid_request", `${param} must be an integer from ${min} to ${max}.`, { param });
}
