import { type BodyBytes, outcomeOf, sizeOf, wholeOf } from "#bodies/index.ts";
import { bounds, Failure, type HeldMemory, type Principal } from "#core/index.ts";
import type { Spooled } from "#ports/index.ts";
import {
  type FormEvent,
  isJsonType,
  type RequestFacts,
  readMultipartType,
  splice,
  withoutMark,
} from "#protocols/index.ts";
import type { PassedField, PassedPlace } from "#relay/index.ts";
import { encodingOf, modelBody, readBytes, unpack } from "./body.ts";
import type { ApiDependencies, Exchange } from "./dependencies.ts";
import { spoolBody, spoolForm } from "./spooled-body.ts";

/**
 * Keeps the fields of a form that is passed through, while it goes into the spool: they may name objects. Of files nothing is kept.
 * Throws Failure invalid_request, unsupported_media_type or request_too_large for a form that another reader could read otherwise.
 */
class FormTexts {
  readonly fields: PassedField[] = [];
  #name: string | null = null;
  #pieces: Uint8Array[] = [];
  #size = 0;

  take(event: FormEvent): void {
    if (event.kind === "part-start") this.#name = event.head.filename === null ? event.head.name : null;
    else if (event.kind === "part-data" && this.#name !== null) this.#keep(event.bytes);
    else if (event.kind === "part-end") this.#close();
  }

  #keep(bytes: Uint8Array): void {
    this.#size += bytes.length;
    if (this.#size <= fieldBytesMax) this.#pieces.push(bytes.slice());
    else this.#pieces = [];
  }

  #close(): void {
    if (this.#name !== null) {
      const text = this.#size > fieldBytesMax ? null : Buffer.concat(this.#pieces).toString();
      this.fields.push({ name: this.#name, text });
    }
    this.#name = null;
    this.#pieces = [];
    this.#size = 0;
  }
}

/** Longer than any field that names an object. */
const fieldBytesMax = 64 * 1024;

function isForm(contentType: string): boolean {
  return /^multipart\/form-data(?![^\s;])/i.test(contentType);
}

export interface ReadPassedBody {
  readonly body: Uint8Array | Spooled | null;
  /** null: nobody understands it. */
  readonly facts: RequestFacts | null;
  /** See PassedCall. */
  readonly fields: readonly PassedField[] | null;
}

/**
 * The body of a call that is passed through, as it arrives: into memory where it is understood or signed, else into the spool. Not a
 * byte of it is changed.
 */
export class PassedBody {
  readonly #dependencies: Pick<ApiDependencies, "bodies" | "spool">;
  readonly #exchange: Pick<Exchange, "request" | "bodies">;
  readonly #place: PassedPlace;
  readonly #room: HeldMemory;
  #spooled: Spooled | null = null;

  constructor(
    dependencies: Pick<ApiDependencies, "bodies" | "spool" | "memory">,
    exchange: Exchange,
    place: PassedPlace,
    principal: Principal,
  ) {
    this.#dependencies = dependencies;
    this.#exchange = exchange;
    this.#place = place;
    this.#room = dependencies.memory.open(principal, "request");
  }

  /** Whether there is one, by what the head says. */
  get isThere(): boolean {
    const { headers } = this.#exchange.request;
    return headers.has("transfer-encoding") || Number(headers.get("content-length") ?? 0) > 0;
  }

  /** Throws Failure 400, 408, 413 or 503. */
  async read(): Promise<ReadPassedBody> {
    const { request } = this.#exchange;
    if (!this.isThere && (request.body === null || bodiless.has(request.method))) return nothing;
    if (bodiless.has(request.method)) {
      throw new Failure("invalid_request", `A body of a ${request.method} means nothing and is not passed on.`);
    }
    if (!this.#isUnderstood && !this.#place.isSigned && !this.#isChecked) {
      return await this.#spool();
    }
    const bytes = await readBytes(this.#exchange, this.#room, modelBody);
    if (sizeOf(bytes) === 0) return nothing;
    const read = this.#isUnderstood ? await this.#understood(bytes) : { body: wholeOf(bytes), facts: null };
    return { ...read, fields: null };
  }

  async #spool(): Promise<ReadPassedBody> {
    const { spool } = this.#dependencies;
    const { owner } = this.#room;
    const type = this.#exchange.request.headers.get("content-type") ?? "";
    if (!this.#place.isShared || !isForm(type)) {
      this.#spooled = await spoolBody(this.#exchange, spool, { owner });
      return { body: this.#spooled, facts: null, fields: null };
    }
    const { boundary } = readMultipartType(type, "Send a form.");
    const form = new FormTexts();
    this.#spooled = await spoolForm(this.#exchange, spool, boundary, { owner, form });
    return { body: this.#spooled, facts: null, fields: form.fields };
  }

  /** Deletes what nobody will send. */
  discard(): void {
    this.#spooled?.discard();
  }

  /** The answer has begun, or there will be none. */
  release(): void {
    this.#room.release();
  }

  get #isUnderstood(): boolean {
    const { method, headers } = this.#exchange.request;
    if (!this.#place.isRead || method !== "POST") return false;
    // Vendors read JSON whatever its type says; a form is none.
    return !/^multipart\//i.test(headers.get("content-type") ?? "");
  }

  /** What a packed body says. null: it cannot be unpacked. */
  async #unpacked(body: Uint8Array): Promise<Uint8Array | null> {
    const { request } = this.#exchange;
    try {
      const encoding = encodingOf(request.headers.get("content-encoding"));
      if (encoding === null) return body;
      const { bodies: work } = this.#dependencies;
      // A copy: what is unpacked in a thread is given away.
      const packed = {
        body: body.slice(),
        encoding,
        place: this.#room,
        rules: modelBody,
        work,
        signal: request.signal,
      };
      return await unpack(packed);
    } catch (thrown) {
      if (thrown instanceof Failure && thrown.code !== "internal_error") return null;
      throw thrown;
    }
  }

  /** Names in it have to be looked for, because the account is not the workspace's alone. */
  get #isChecked(): boolean {
    const { headers } = this.#exchange.request;
    const { isShared, target } = this.#place;
    return (
      isShared && !target.isUpload && isJsonType(headers.get("content-type") ?? "") && !headers.has("content-encoding")
    );
  }

  /** What is no call of the dialect after all is passed on all the same: its vendor says what is wrong with it. */
  async #understood(bytes: BodyBytes): Promise<Omit<ReadPassedBody, "fields">> {
    const { path, protocol } = this.#place;
    const { endpoint, wireDialect: dialect, wire } = protocol;
    const inPath = path === null || dialect.startsWith("gemini") ? null : path;
    const { signal, headers } = this.#exchange.request;
    const isPacked = (headers.get("content-encoding") ?? "identity") !== "identity";
    const read = (given: BodyBytes) =>
      this.#dependencies.bodies.do("read", { endpoint, dialect, path }, given, { signal, owner: this.#room.owner });
    if (sizeOf(bytes) > bounds.readInPlaceBytesMax && inPath === null && !isPacked) {
      this.#room.hold(sizeOf(bytes) * 2);
      // What is read in a thread is given away, and comes back.
      const done = await read(bytes);
      return { body: done.body, facts: unlessFailed(() => outcomeOf(done).answer.facts) };
    }
    const body = wholeOf(bytes);
    const unpacked = isPacked ? await this.#unpacked(body) : body;
    if (unpacked === null) return { body, facts: null };
    const plain = withoutMark(unpacked);
    const said = inPath === null ? plain : withPath(plain, inPath);
    if (said.length <= bounds.readInPlaceBytesMax) {
      return { body, facts: unlessFailed(() => wire.readRequest(said, path)) };
    }
    this.#room.hold(said.length * 2);
    const done = await read(said.buffer === body.buffer ? said.slice() : said);
    return { body, facts: unlessFailed(() => outcomeOf(done).answer.facts) };
  }
}

const nothing: ReadPassedBody = { body: null, facts: null, fields: null };
const bodiless: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/**
 * Clouds say model and stream by the path: the body reads as at the vendor's own API once they stand in it. Vertex's clients say
 * the stream in both.
 */
function withPath(
  body: Uint8Array,
  { model, stream }: { readonly model: string; readonly stream: boolean },
): Uint8Array {
  const at = body.indexOf(0x7b);
  if (at === -1) return body;
  const saysStream = Buffer.from(body.buffer, body.byteOffset, body.byteLength).includes('"stream"');
  const text = `"model":${JSON.stringify(model)},${saysStream ? "" : `"stream":${stream},`}`;
  return splice(body, [{ start: at + 1, end: at + 1, text }]);
}

function unlessFailed(read: () => RequestFacts): RequestFacts | null {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.code !== "internal_error") return null;
    throw thrown;
  }
}
