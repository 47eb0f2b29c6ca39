import { type BodyBytes, canUnpack, outcomeOf, sizeOf, wholeOf } from "#bodies/index.ts";
import { bounds, Failure, type HeldMemory, type MemoryOwner, type PieceReader, within } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import { type JsonObject, parseBounded } from "#protocols/index.ts";
import type { CallRequest } from "./call-request.ts";
import type { ApiDependencies, Exchange } from "./dependencies.ts";

/** Limits of the bodies that an endpoint accepts. */
export interface BodyRules {
  /** Bound of the body as sent and, if it is compressed, of the decompressed body. */
  readonly bytesMax: number;
  /** Whether a content encoding is accepted. */
  readonly packed: boolean;
  /** Added to the error about a larger body. */
  readonly advice?: string;
}

/** Calls of models: conversations with images in them. */
export const modelBody: BodyRules = { bytesMax: bounds.requestBodyBytesMax, packed: true };
/** Names, addresses and settings, but no media. */
export const controlBody: BodyRules = { bytesMax: bounds.plainBodyBytesMax, packed: true };
export const videoBody: BodyRules = {
  bytesMax: bounds.taskRequestBytesMax,
  packed: true,
  advice: "give material by URL or as an asset",
};
/** One file of the largest kind plus its form fields. */
export const assetUploadBody: BodyRules = { bytesMax: bounds.assetUploadBytesMax, packed: false };
/** The sender is not authenticated. */
export const callbackBody: BodyRules = { bytesMax: bounds.callbackBodyBytesMax, packed: false };

/** The error for endpoints that take JSON or a form. */
export const jsonOrForm =
  "The body must be JSON or a form: send `content-type: application/json` or `multipart/form-data`.";

/** The size that the head declares; null if it declares none. Throws request_too_large. */
export function declaredSize({ headers }: CallRequest, rules: BodyRules): number | null {
  const header = headers.get("content-length");
  if (header !== null && Number(header) > rules.bytesMax) throw tooLarge(rules);
  return header === null ? null : Number(header);
}

export function tooLarge({ bytesMax, advice }: BodyRules): Failure {
  const hint = advice === undefined ? "" : `; ${advice}`;
  return new Failure("request_too_large", `The body is larger than ${bytesMax} bytes${hint}.`);
}

/** A small body may decompress to this size. */
const unpackedBytesMin = 1024 * 1024;

/**
 * Collects a body in few pieces however it arrives: long pieces are kept without a copy, short ones are joined. A body that is
 * small enough to be worked on here is one piece from the start.
 */
export class BodyPieces {
  readonly #pieces: Uint8Array[] = [];
  /** The last of the pieces, while there is room in it. */
  #open: Uint8Array | null = null;
  #filled = 0;
  #size = 0;

  /** `declared`: the size in the request's head; null if it has none. */
  constructor(declared: number | null) {
    if (declared !== null && declared <= bounds.readInPlaceBytesMax) this.#begin(declared);
  }

  get size(): number {
    return this.#size;
  }

  add(piece: Uint8Array): void {
    this.#size += piece.length;
    let rest = this.#fill(piece);
    if (rest.length >= bounds.bodyPieceKeptBytesMin) {
      this.#pieces.push(rest);
      return;
    }
    while (rest.length > 0) {
      this.#begin(bounds.bodyPieceBytes);
      rest = this.#fill(rest);
    }
  }

  /** The whole body. Nothing can be added afterwards. */
  end(): readonly Uint8Array[] {
    const last = this.#open;
    if (last !== null) this.#pieces[this.#pieces.length - 1] = last.subarray(0, this.#filled);
    return this.#pieces;
  }

  #begin(bytes: number): void {
    // Not filled with zeros: `end` returns only what was written.
    this.#open = new Uint8Array(bytes);
    this.#filled = 0;
    this.#pieces.push(this.#open);
  }

  /** Returns the part that does not fit. */
  #fill(piece: Uint8Array): Uint8Array {
    const into = this.#open;
    if (into === null) return piece;
    const fitting = Math.min(piece.length, into.length - this.#filled);
    into.set(piece.subarray(0, fitting), this.#filled);
    this.#filled += fitting;
    if (this.#filled === into.length) this.#open = null;
    return piece.subarray(fitting);
  }
}

/** The request, and what its body is read with. */
export interface BodySource {
  readonly request: CallRequest;
  readonly dependencies: Pick<ApiDependencies, "bodies" | "clock">;
}

/** Accounts for the memory of a body while it is used. */
export async function withPlace<Result>(
  { dependencies }: Exchange,
  owner: MemoryOwner,
  use: (place: HeldMemory) => Promise<Result>,
): Promise<Result> {
  const place = dependencies.memory.open(owner, "request");
  try {
    return await use(place);
  } finally {
    place.release();
  }
}

/** A small JSON body, parsed. Throws Failure invalid_json, and what `readJsonPieces` throws. */
export function readControlJson(exchange: Exchange, owner: MemoryOwner): Promise<JsonObject> {
  return withPlace(exchange, owner, async (place) => {
    const bytes = wholeOf(await readJsonPieces(exchange, place, controlBody));
    // Parsed on the event loop, so the number of values is bounded.
    return parseBounded(bytes, { values: bounds.plainValuesMax, members: bounds.plainMembersMax });
  });
}

type ReadBody = BodyBytes | Promise<BodyBytes>;

/** Reads a JSON body as `readPieces` does, without parsing it. */
export function readJsonPieces(source: BodySource, place: HeldMemory, rules: BodyRules): ReadBody {
  if (!isJsonType(source.request.headers.get("content-type"))) {
    throw new Failure("unsupported_media_type", "The body must be JSON: send `content-type: application/json`.");
  }
  return readPieces(source, place, rules);
}

/** Reads a body and decompresses it, within the rules and its caller's memory. Throws Failure 400, 408, 413, 415 or 503. */
export function readPieces(source: BodySource, place: HeldMemory, rules: BodyRules): ReadBody {
  const encoding = encodingOf(source.request.headers.get("content-encoding"));
  if (encoding !== null && !rules.packed) {
    throw new Failure("unsupported_media_type", "The body must be sent without a content encoding.");
  }
  const read = readBytes(source, place, rules);
  if (encoding === null) return read;
  return Promise.resolve(read).then((body) => unpack(source, body, encoding, place, rules));
}

/** Reads a body as it was sent; returns no promise if a small one has arrived whole. Throws Failure 408, 413 or 503. */
export function readBytes(
  { request, dependencies: { clock } }: BodySource,
  place: HeldMemory,
  rules: BodyRules,
): ReadBody {
  const declared = declaredSize(request, rules);
  if (declared === null || declared > bounds.bodyAtOnceBytesMax) {
    const reader = request.body?.getReader() ?? null;
    return reader === null ? nothing : inTime(clock, collect(reader, declared, place, rules), reader);
  }
  place.hold(declared);
  return request.arrived?.() ?? inTime(clock, request.bytes().catch(callerGone), null);
}

const nothing = new Uint8Array(0);

/** The result of `reading`. Cancels the reader if that fails. Throws request_timeout if it takes too long. */
export async function inTime<Read>(clock: Clock, reading: Promise<Read>, reader: PieceReader | null): Promise<Read> {
  try {
    return await within(clock, bounds.requestBodyTotalMs, reading, () => {
      const seconds = bounds.requestBodyTotalMs / 1_000;
      throw new Failure("request_timeout", `The body did not arrive within ${seconds} seconds.`);
    });
  } catch (thrown) {
    reader?.cancel().catch(() => {});
    throw thrown;
  }
}

/** Handles the error of a read from the caller. */
export function callerGone(thrown: unknown): never {
  if (thrown instanceof Failure) throw thrown;
  throw new Failure("client_closed", "The caller went away while sending its body.", { cause: thrown });
}

async function collect(
  reader: PieceReader,
  declared: number | null,
  place: HeldMemory,
  rules: BodyRules,
): Promise<readonly Uint8Array[]> {
  const pieces = new BodyPieces(declared);
  let turnEnd = bounds.bodyTurnBytes;
  for (;;) {
    const piece = await reader.read().catch(callerGone);
    if (piece.done) return pieces.end();
    const size = pieces.size + piece.value.length;
    if (size > rules.bytesMax) throw tooLarge(rules);
    place.hold(size);
    pieces.add(piece.value);
    if (size < turnEnd) continue;
    turnEnd = size + bounds.bodyTurnBytes;
    // The runtime reads one connection as long as its sender keeps up. This gives the other connections a turn.
    await new Promise(setImmediate);
  }
}

/** Whether the body may be expensive to read, judged by its head. */
export function mayBeLarge({ headers }: CallRequest): boolean {
  const declared = headers.get("content-length");
  const encoding = headers.get("content-encoding");
  const packed = encoding !== null && encoding !== "" && encoding !== "identity";
  return packed || declared === null || Number(declared) > bounds.bodyAtOnceBytesMax;
}

/** Whether the body is JSON. A missing content type counts as JSON. */
export function isJsonType(type: string | null): boolean {
  if (type === null || type === "application/json") return true;
  const essence = type.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return essence === "application/json" || essence.endsWith("+json");
}

/** null: the body is not compressed. Throws unsupported_media_type. */
export function encodingOf(header: string | null): string | null {
  if (header === null || header === "") return null;
  const name = header.trim().toLowerCase();
  if (name === "identity") return null;
  if (canUnpack(name)) return name;
  throw new Failure(
    "unsupported_media_type",
    `The content encoding "${header.slice(0, 40)}" is not supported; gzip, br, zstd and deflate are.`,
  );
}

/**
 * Decompresses a body. A small body can decompress to a very large one, so the bound applies to the result, its memory is
 * reserved before the work, and a ratio that no real text has is refused.
 */
export async function unpack(
  { request, dependencies: { bodies } }: BodySource,
  body: BodyBytes,
  encoding: string,
  place: HeldMemory,
  rules: BodyRules,
): Promise<Uint8Array> {
  const size = sizeOf(body);
  const bytesMax = Math.min(rules.bytesMax, Math.max(unpackedBytesMin, size * bounds.unpackedRatioMax));
  place.hold(size + bytesMax);
  const options = { signal: request.signal, owner: place.owner };
  const { made } = outcomeOf(await bodies.do("unpack", { encoding, bytesMax }, body, options));
  place.hold(made.length);
  return made;
}
