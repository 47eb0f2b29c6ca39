import { type BodyBytes, wholeOf } from "#bodies/index.ts";
import { bounds, Failure, type HeaderReader, type HeldMemory } from "#core/index.ts";
import type { BodyDeadlines } from "./body-deadlines.ts";
import { BodyPieces } from "./body-pieces.ts";
import { type BodyRules, tooLarge } from "./body-rules.ts";
import type { CallRequest } from "./call-request.ts";
import type { ApiDependencies, Exchange } from "./dependencies.ts";
import { encodingOf, unpack } from "./unpack.ts";

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
  if (declared !== null && declared <= bounds.bodyAtOnceBytesMax) {
    place.hold(declared);
    const here = request.arrived?.() ?? null;
    if (here !== null) return here;
  }
  return readArriving(bodies, new Arrival(request, declared, place, rules));
}

async function readArriving(bodies: BodyDeadlines, arrival: Arrival): Promise<BodyBytes> {
  try {
    return await bodies.within(arrival.read());
  } catch (thrown) {
    arrival.stop();
    if (thrown instanceof Failure) throw thrown;
    throw new Failure("client_closed", "The caller went away while sending its body.", { cause: thrown });
  }
}

/** Whether to read it may cost much: by what its head says. */
export function mayBeLarge({ headers }: CallRequest): boolean {
  const declared = headers.get("content-length");
  const encoding = headers.get("content-encoding");
  const packed = encoding !== null && encoding !== "" && encoding !== "identity";
  return packed || declared === null || Number(declared) > bounds.bodyAtOnceBytesMax;
}

/** What is known ahead to be small comes in one piece; the rest is counted as it comes, so that every bound holds. */
class Arrival {
  readonly #request: CallRequest;
  readonly #declared: number | null;
  readonly #place: HeldMemory;
  readonly #rules: BodyRules;
  #stop = (): void => {};

  constructor(request: CallRequest, declared: number | null, place: HeldMemory, rules: BodyRules) {
    this.#request = request;
    this.#declared = declared;
    this.#place = place;
    this.#rules = rules;
  }

  async read(): Promise<BodyBytes> {
    const declared = this.#declared;
    if (declared !== null && declared <= bounds.bodyAtOnceBytesMax) {
      this.#place.hold(declared);
      return this.#request.bytes();
    }
    if (this.#request.body === null) return nothing;
    const pieces = new BodyPieces(declared);
    const reader = this.#request.body.getReader();
    this.#stop = () => void reader.cancel().catch(() => {});
    let turnEnd = bounds.bodyTurnBytes;
    for (;;) {
      const piece = await reader.read();
      if (piece.done) return pieces.end();
      const size = pieces.size + piece.value.length;
      if (size > this.#rules.bytesMax) throw tooLarge(this.#rules);
      this.#place.hold(size);
      pieces.add(piece.value);
      if (size < turnEnd) continue;
      turnEnd = size + bounds.bodyTurnBytes;
      // The runtime reads from one connection for as long as its sender keeps up. What is not taken from it stays in the kernel.
      await new Promise(setImmediate);
    }
  }

  /** Nothing more is read. */
  stop(): void {
    this.#stop();
  }
}

const nothing = new Uint8Array(0);

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
