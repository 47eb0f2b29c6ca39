import type { Answer } from "./answer.ts";
import type { ByteSource } from "./byte-source.ts";
import type { DialectEvent, Framing } from "./framing.ts";
import type { HeaderRow } from "./outlet.ts";
import type { ParsedRequest } from "./parsed-request.ts";
import type { SimulatorRequest } from "./request.ts";
import type { Script } from "./script.ts";
import type { TruthRecord } from "./truth.ts";

/** A vendor's API, one file each. Requests are parsed leniently; answers have exactly the vendor's format. */
export interface Dialect {
  readonly id: string;
  /** Set for calls that generate nothing, such as tokens and stored answers: presets for any model do not apply. */
  readonly auxiliary?: boolean;
  /** The body is a credential and must not be stored. */
  readonly secret?: boolean;
  /** Whether this request belongs to this dialect. */
  matches(request: SimulatorRequest): boolean;
  /** Throws Refusal for requests that the vendor would refuse. */
  read(request: SimulatorRequest): Exchange;
  headers(facts: HeaderFacts): HeaderRow[];
  /** Returns an error body. */
  error(refusal: Refusal, requestId: string, request: SimulatorRequest): string;
  /** The HTTP status of a refusal, if it is not the refusal's own. */
  statusOf?(refusal: Refusal): number;
}

/** A parsed request, with functions that answer it. */
export interface Exchange {
  readonly parsed: ParsedRequest;
  /** The name by which presets apply to this call; presets for its model or for any model do not. */
  readonly presetName?: string;
  /** The script of the task or object that is called; presets and the request's own script override it. */
  readonly inherited?: Script;
  /** The status of a successful answer, default 200, and additional headers. */
  readonly status?: number;
  readonly rows?: readonly HeaderRow[];
  /** The answer is this file, or a range of it. Called once the request is admitted. */
  bytes?(): ByteSource;
  /** How events are framed; null or absent for server-sent events. */
  framing?(script: Script): Framing | null;
  /** The event that the vendor sends during long waits; null for a comment. */
  readonly ping: DialectEvent | null;
  /** A final check with the script, which may add to the record. Throws Refusal. */
  admit?(script: Script, record: TruthRecord): void;
  /** Composes the answer, if it is not the default text. */
  compose?(script: Script): Answer;
  whole(head: ReplyHead, answer: Answer): string;
  events(head: ReplyHead, answer: Answer): Iterable<DialectEvent>;
  /** An error event for the middle of a stream. */
  errorEvent(refusal: Refusal, requestId: string): DialectEvent;
}

/** Identifies one answer. */
export interface ReplyHead {
  /** Unique among this simulator's answers. */
  readonly sequence: number;
  /** Unix seconds. */
  readonly created: number;
  readonly requestId: string;
  readonly script: Script;
}

export interface HeaderFacts {
  readonly requestId: string;
  /** Null if the request could not be parsed. */
  readonly parsed: ParsedRequest | null;
  /** Null for a refusal. */
  readonly answer: Answer | null;
  readonly refusal: Refusal | null;
}

/** A refusal by the vendor. `code` undefined: the default code of the status. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;
  readonly param: string | null;
  readonly code: string | null | undefined;
  /** Only in Anthropic's errors. */
  readonly details: object | null;

  constructor(
    status: number,
    message: string,
    options: { param?: string; code?: string | null; details?: object } = {},
  ) {
    super(message);
    this.status = status;
    this.param = options.param ?? null;
    this.code = options.code;
    this.details = options.details ?? null;
  }
}
