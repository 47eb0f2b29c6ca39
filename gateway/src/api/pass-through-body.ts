import { type BodyBytes, outcomeOf, sizeOf, wholeOf } from "#bodies/index.ts";
import { bounds, Failure, type HeldMemory } from "#core/index.ts";
import type { Spooled } from "#ports/index.ts";
import {
  type FormEvent,
  isJsonType,
  MultipartScanner,
  type RequestFacts,
  readMultipartType,
  splice,
  withoutByteOrderMark,
} from "#protocols/index.ts";
import type { PassThroughField, PassThroughRoute } from "#relay/index.ts";
import { encodingOf, modelBody, readBytes, unpack } from "./body.ts";
import type { CallRequest } from "./call-request.ts";
import type { Exchange } from "./dependencies.ts";
import { spoolBody, spoolForm } from "./spooled-body.ts";

/** The body of a pass-through call, unchanged. */
export interface PassThroughBody {
  readonly body: Uint8Array | Spooled | null;
  /** null: the body is not a request that we can parse. */
  readonly facts: RequestFacts | null;
  /** The fields of a form; see PassThroughCall. */
  readonly fields: readonly PassThroughField[] | null;
}

const noBody: PassThroughBody = { body: null, facts: null, fields: null };

/** Whether the head announces a body. */
export function announcesBody({ headers }: CallRequest): boolean {
  return headers.has("transfer-encoding") || Number(headers.get("content-length") ?? 0) > 0;
}

/**
 * Reads the body of a pass-through call: into memory (`room`) if it is parsed, checked or signed, else into the spool. Throws Failure
 * 400, 408, 413 or 503.
 */
export async function readPassThroughBody(
  exchange: Exchange,
  route: PassThroughRoute,
  room: HeldMemory,
): Promise<PassThroughBody> {
  const { request } = exchange;
  const { method, headers } = request;
  const isBodiless = method === "GET" || method === "HEAD";
  if (!announcesBody(request) && (request.body === null || isBodiless)) return noBody;
  if (isBodiless) throw new Failure("invalid_request", `A ${method} request with a body cannot be forwarded.`);
  const type = headers.get("content-type") ?? "";
  // Vendors parse JSON with any content type.
  const isParsed = route.isRead && method === "POST" && !/^multipart\//i.test(type);
  // On a shared account, a body may name objects of other workspaces. On any, it may name files of the gateway.
  const isShort = Number(headers.get("content-length") ?? Number.NaN) <= bounds.readInPlaceBytesMax;
  const isChecked =
    (route.isShared || isShort) && !route.target.isUpload && isJsonType(type) && !headers.has("content-encoding");
  if (isParsed || isChecked || route.isSigned) {
    const bytes = await readBytes(exchange, room, modelBody);
    if (sizeOf(bytes) === 0) return noBody;
    return isParsed ? await parse(exchange, route, room, bytes) : { ...noBody, body: wholeOf(bytes) };
  }
  if (!/^multipart\/form-data(?![^\s;])/i.test(type)) {
    return { ...noBody, body: await spoolBody(exchange, room.owner) };
  }
  if (!route.isShared) return await spoolAnyForm(exchange, room, type);
  const { boundary } = readMultipartType(type, "Send a form.");
  const { spooled, read } = await spoolForm(exchange, boundary, room.owner, new FormTexts());
  return { body: spooled, facts: null, fields: read };
}

/** A form that cannot be read is forwarded too, and then names no file of the gateway. */
async function spoolAnyForm(exchange: Exchange, room: HeldMemory, type: string): Promise<PassThroughBody> {
  const texts = new FormTexts();
  const isPacked = exchange.request.headers.has("content-encoding");
  let scanner = isPacked ? null : unlessFailed(() => new MultipartScanner(readMultipartType(type, "").boundary));
  const body = await spoolBody(exchange, room.owner, modelBody, (piece) => {
    const events = unlessFailed(() => scanner?.push(piece) ?? null);
    if (events === null) scanner = null;
    else for (const event of events) texts.take(event);
  });
  const fields = unlessFailed(() => {
    scanner?.end();
    return scanner === null ? null : texts.end();
  });
  return { body, facts: null, fields };
}

/** A body that is not a valid call of the dialect is forwarded too: its vendor explains what is wrong with it. */
async function parse(
  exchange: Exchange,
  { path, protocol }: PassThroughRoute,
  room: HeldMemory,
  bytes: BodyBytes,
): Promise<PassThroughBody> {
  const { endpoint, wireDialect: dialect, wire } = protocol;
  const { dependencies, request } = exchange;
  const { signal, headers } = request;
  const inPath = dialect.startsWith("gemini") ? null : path;
  const isPacked = (headers.get("content-encoding") ?? "identity") !== "identity";
  // The thread takes a body over and returns it.
  const isMoved = sizeOf(bytes) > bounds.readInPlaceBytesMax && inPath === null && !isPacked;
  let body = isMoved ? null : wholeOf(bytes);
  let toRead = bytes;
  if (body !== null) {
    const unpacked = isPacked ? await unpackCopy(exchange, room, body) : body;
    if (unpacked === null) return { ...noBody, body };
    const plain = withoutByteOrderMark(unpacked);
    const full = inPath === null ? plain : withPath(plain, inPath);
    if (full.length <= bounds.readInPlaceBytesMax) {
      return { ...noBody, body, facts: unlessFailed(() => wire.readRequest(full, path)) };
    }
    toRead = full.buffer === body.buffer ? full.slice() : full;
  }
  room.hold(sizeOf(toRead) * 2);
  const done = await dependencies.bodies.do("read", { endpoint, dialect, path }, toRead, { signal, owner: room.owner });
  body ??= done.body;
  return { ...noBody, body, facts: unlessFailed(() => outcomeOf(done).answer.facts) };
}

/** null: the body cannot be decompressed. */
async function unpackCopy(exchange: Exchange, room: HeldMemory, body: Uint8Array): Promise<Uint8Array | null> {
  try {
    const encoding = encodingOf(exchange.request.headers.get("content-encoding"));
    if (encoding === null) return body;
    // A thread takes its bytes over, and the body itself is still to be sent.
    return await unpack(exchange, body.slice(), encoding, room, modelBody);
  } catch (thrown) {
    return unlessInternal(thrown);
  }
}

/** null: `read` threw Failure. */
function unlessFailed<Read>(read: () => Read): Read | null {
  try {
    return read();
  } catch (thrown) {
    return unlessInternal(thrown);
  }
}

function unlessInternal(thrown: unknown): null {
  if (thrown instanceof Failure && thrown.code !== "internal_error") return null;
  throw thrown;
}

/**
 * Clouds have the model, and whether the answer is a stream, in the path. With both put into it, the body reads as at the vendor's own
 * API. Vertex's clients put `stream` in both.
 */
function withPath(
  body: Uint8Array,
  { model, stream }: { readonly model: string; readonly stream: boolean },
): Uint8Array {
  const at = body.indexOf(0x7b);
  if (at === -1) return body;
  const hasStream = Buffer.from(body.buffer, body.byteOffset, body.byteLength).includes('"stream"');
  const text = `"model":${JSON.stringify(model)},${hasStream ? "" : `"stream":${stream},`}`;
  return splice(body, [{ start: at + 1, end: at + 1, text }]);
}

/** Longer than any field that names an object. */
const fieldBytesMax = 64 * 1024;

/** Collects the text fields of a form while it is spooled, since they may name objects. Files are skipped. */
class FormTexts {
  readonly #fields: PassThroughField[] = [];
  #name: string | null = null;
  #pieces: Uint8Array[] = [];
  #size = 0;
  #start = 0;

  take(event: FormEvent): void {
    if (event.kind === "part-start") {
      this.#name = event.head.filename === null ? event.head.name : null;
      this.#start = event.start;
    } else if (event.kind === "part-data" && this.#name !== null) this.#add(event.bytes);
    else if (event.kind === "part-end") this.#close(event.end);
  }

  end(): readonly PassThroughField[] {
    return this.#fields;
  }

  #add(bytes: Uint8Array): void {
    this.#size += bytes.length;
    if (this.#size <= fieldBytesMax) this.#pieces.push(bytes.slice());
    else this.#pieces = [];
  }

  #close(end: number): void {
    if (this.#name !== null) {
      const text = this.#size > fieldBytesMax ? null : Buffer.concat(this.#pieces).toString();
      this.#fields.push({ name: this.#name, text, span: { start: this.#start, end } });
    }
    this.#name = null;
    this.#pieces = [];
    this.#size = 0;
  }
}
