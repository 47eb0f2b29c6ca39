import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, zstdDecompress } from "node:zlib";
import { type BodyBytes, type BodyWork, notUnpacked, outcomeOf, sizeOf, wholeOf } from "#bodies/index.ts";
import { bounds, type CallSignal, Failure, type HeaderReader, type HeldMemory } from "#core/index.ts";
import type { BodyDeadlines } from "./body-deadlines.ts";
import type { CallRequest } from "./call-request.ts";
import type { ApiDependencies, Exchange } from "./dependencies.ts";

/** What may be sent to one kind of endpoint. */
export interface BodyRules {
  /** Of what arrives and of what comes out of it. */
  readonly bytesMax: number;
  /** Whether it may come with a content encoding. */
  readonly packed: boolean;
  /** What to do instead of sending so much. */
  readonly advice?: string;
}

/** Calls of models: conversations with pictures in them. */
export const modelBody: BodyRules = { bytesMax: bounds.requestBodyBytesMax, packed: true };
/** Names, addresses and settings, but no material. */
export const controlBody: BodyRules = { bytesMax: bounds.plainBodyBytesMax, packed: true };
export const videoBody: BodyRules = {
  bytesMax: bounds.taskRequestBytesMax,
  packed: true,
  advice: "give material by URL or as an asset",
};
/** A file of the largest kind and the fields beside it. */
export const assetUploadBody: BodyRules = { bytesMax: bounds.assetUploadBytesMax, packed: false };
/** From somebody who shows no key. */
export const callbackBody: BodyRules = { bytesMax: bounds.callbackBodyBytesMax, packed: false };

export function tooLarge({ bytesMax, advice }: BodyRules): Failure {
  const hint = advice === undefined ? "" : `; ${advice}`;
  return new Failure("request_too_large", `The body is larger than ${bytesMax} bytes${hint}.`);
}

/** Larger bodies are unpacked in a thread of their own. */
const unpackInPlaceBytesMax = 8 * 1024;
/** A small body may become this large. */
const unpackedBytesMin = 1024 * 1024;

/**
 * What has come of a body, in few pieces however it comes: long ones are kept as they are, which copies nothing, and short
 * ones are put together. A body that is worked on where it is gets one piece at once.
 */
export class BodyPieces {
  readonly #pieces: Uint8Array[] = [];
  /** The last of the pieces, while there is room in it. */
  #open: Uint8Array | null = null;
  #filled = 0;
  #size = 0;

  /** `declared`: the size as the body's sender says it; null where it does not. */
  constructor(declared: number | null) {
    // Memory that nothing was written to yet costs nothing.
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

  /** All of it; nothing can be added any more. */
  end(): readonly Uint8Array[] {
    const last = this.#open;
    if (last !== null) this.#pieces[this.#pieces.length - 1] = last.subarray(0, this.#filled);
    return this.#pieces;
  }

  #begin(bytes: number): void {
    this.#open = new Uint8Array(bytes);
    this.#filled = 0;
    this.#pieces.push(this.#open);
  }

  /** What does not fit. */
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

type BodyDependencies = Pick<ApiDependencies, "bodies">;
type BodyExchange = Pick<Exchange, "request" | "bodies">;

/** A JSON body as `readJsonPieces` reads it, put together where it is: for those that are small. */
export async function readJsonBody(
  dependencies: BodyDependencies,
  exchange: BodyExchange,
  place: HeldMemory,
  rules: BodyRules,
): Promise<Uint8Array> {
  return wholeOf(await readJsonPieces(dependencies, exchange, place, rules));
}

/**
 * Reads a JSON body to its end and unpacked, within the rules and the memory for all bodies. It is not looked into. Throws
 * Failure 400, 408, 413, 415 or 503.
 */
export function readJsonPieces(
  dependencies: BodyDependencies,
  exchange: BodyExchange,
  place: HeldMemory,
  rules: BodyRules,
): BodyBytes | Promise<BodyBytes> {
  requireJson(exchange.request.headers);
  return readPieces(dependencies, exchange, place, rules);
}

/** The same of a body of any type. */
export function readPieces(
  { bodies: work }: BodyDependencies,
  { request, bodies }: BodyExchange,
  place: HeldMemory,
  rules: BodyRules,
): BodyBytes | Promise<BodyBytes> {
  const encoding = encodingOf(request.headers.get("content-encoding"));
  if (encoding !== null && !rules.packed) {
    throw new Failure("unsupported_media_type", "The body must be sent without a content encoding.");
  }
  const read = readBytes({ request, bodies }, place, rules);
  if (encoding === null) return read;
  const unpacked = (body: BodyBytes) => unpack({ body, encoding, place, rules, work, signal: request.signal });
  return read instanceof Promise ? read.then(unpacked) : unpacked(read);
}

/** Reads a body to its end as it is, whatever it is; without a pause where all of a small one is here. Throws Failure 408, 413 or 503. */
export function readBytes(
  { request, bodies }: Pick<Exchange, "request" | "bodies">,
  place: HeldMemory,
  rules: BodyRules,
): BodyBytes | Promise<BodyBytes> {
  const header = request.headers.get("content-length");
  const declared = header === null ? null : Number(header);
  if (declared !== null && declared > rules.bytesMax) throw tooLarge(rules);
  if (declared === null || declared > bounds.bodyAtOnceBytesMax) {
    const reader = request.body?.getReader() ?? null;
    return reader === null ? nothing : arriving(bodies, readPiecesOf(reader, declared, place, rules), reader);
  }
  place.hold(declared);
  return request.arrived?.() ?? arriving(bodies, request.bytes(), null);
}

const nothing = new Uint8Array(0);

async function arriving<Read extends BodyBytes>(
  bodies: BodyDeadlines,
  reading: Promise<Read>,
  reader: PieceReader | null,
): Promise<Read> {
  try {
    return await bodies.within(reading);
  } catch (thrown) {
    reader?.cancel().catch(() => {});
    if (thrown instanceof Failure) throw thrown;
    throw new Failure("client_closed", "The caller went away while sending its body.", { cause: thrown });
  }
}

/** What is used of a stream's reader; the runtime's own type is wider. */
export interface PieceReader {
  read(): Promise<{ done: false; value: Uint8Array } | { done: true; value?: unknown }>;
  cancel(): Promise<void>;
}

/** Counted as it comes, so that every bound holds. */
async function readPiecesOf(
  reader: PieceReader,
  declared: number | null,
  place: HeldMemory,
  rules: BodyRules,
): Promise<readonly Uint8Array[]> {
  const pieces = new BodyPieces(declared);
  let turnEnd = bounds.bodyTurnBytes;
  for (;;) {
    const piece = await reader.read();
    if (piece.done) return pieces.end();
    const size = pieces.size + piece.value.length;
    if (size > rules.bytesMax) throw tooLarge(rules);
    place.hold(size);
    pieces.add(piece.value);
    if (size < turnEnd) continue;
    turnEnd = size + bounds.bodyTurnBytes;
    // The runtime reads from one connection for as long as its sender keeps up. What is not taken from it stays in the kernel.
    await new Promise(setImmediate);
  }
}

/** Whether to read it may cost much: by what its head says. */
export function mayBeLarge({ headers }: CallRequest): boolean {
  const declared = headers.get("content-length");
  const encoding = headers.get("content-encoding");
  const packed = encoding !== null && encoding !== "" && encoding !== "identity";
  return packed || declared === null || Number(declared) > bounds.bodyAtOnceBytesMax;
}

/** Also where nothing is said. */
export function isJsonType(type: string | null): boolean {
  if (type === null || type === "application/json") return true;
  const essence = type.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return essence === "application/json" || essence.endsWith("+json");
}

function requireJson(headers: HeaderReader): void {
  if (isJsonType(headers.get("content-type"))) return;
  throw new Failure("unsupported_media_type", "The body must be JSON: send `content-type: application/json`.");
}

type Unpacker = (body: Uint8Array, options: { readonly maxOutputLength: number }) => Promise<Uint8Array>;

/** For what is small: they run beside the event loop, but put the pieces together on it. */
const unpackers: ReadonlyMap<string, Unpacker> = new Map([
  ["gzip", promisify(gunzip) as Unpacker],
  ["x-gzip", promisify(gunzip) as Unpacker],
  ["deflate", promisify(inflate) as Unpacker],
  ["br", promisify(brotliDecompress) as Unpacker],
  ["zstd", promisify(zstdDecompress) as Unpacker],
]);

/** null: the body is as it is. Throws unsupported_media_type. */
export function encodingOf(header: string | null): string | null {
  if (header === null || header === "") return null;
  const name = header.trim().toLowerCase();
  if (name === "identity") return null;
  if (unpackers.has(name)) return name;
  throw new Failure(
    "unsupported_media_type",
    `The content encoding "${header.slice(0, 40)}" is not supported; gzip, br, zstd and deflate are.`,
  );
}

interface PackedBody {
  readonly body: BodyBytes;
  readonly encoding: string;
  readonly place: HeldMemory;
  readonly rules: BodyRules;
  readonly work: BodyWork;
  readonly signal: CallSignal;
}

/**
 * The bound holds for what comes out: a small body may stand for a very large one. One that is packed denser than any
 * text is stopped early, or a few hundred such bytes at once would take all memory. Room is taken for the most that may
 * come out before anything does.
 */
export async function unpack({ body, encoding, place, rules, work, signal }: PackedBody): Promise<Uint8Array> {
  const size = sizeOf(body);
  const dense = Math.max(unpackedBytesMin, size * bounds.unpackedRatioMax);
  const bytesMax = Math.min(rules.bytesMax, dense);
  place.hold(size + bytesMax);
  const unpacked =
    size <= unpackInPlaceBytesMax
      ? await unpackHere(wholeOf(body), encoding, bytesMax)
      : outcomeOf(await work.do("unpack", { encoding, bytesMax }, body, { signal, owner: place.owner })).made;
  if (unpacked === null) throw new Error("a job made nothing");
  place.hold(unpacked.length);
  return unpacked;
}

async function unpackHere(body: Uint8Array, encoding: string, bytesMax: number): Promise<Uint8Array | null> {
  try {
    return (await unpackers.get(encoding)?.(body, { maxOutputLength: bytesMax })) ?? null;
  } catch (thrown) {
    throw notUnpacked(thrown);
  }
}
