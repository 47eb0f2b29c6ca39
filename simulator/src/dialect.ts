import type { Answer } from "./answer.ts";
import type { ByteSource } from "./byte-source.ts";
import type { DialectEvent, Framing } from "./framing.ts";
import type { HeaderRow } from "./outlet.ts";
import type { ParsedRequest } from "./parsed-request.ts";
import type { SimulatorRequest } from "./request.ts";
import type { Script } from "./script.ts";
import type { TruthRecord } from "./truth.ts";

/** A vendor's way of speaking: one file each. Reading is lenient; what is sent is exactly the vendor's shape. */
export interface Dialect {
  readonly id: string;
  /** A call that generates nothing (a token, a stored answer): presets for any model pass it by. */
  readonly aside?: boolean;
  /** The body is a credential and is kept nowhere. */
  readonly secret?: boolean;
  /** Whether this request is this dialect's call. */
  matches(request: SimulatorRequest): boolean;
  /** Throws Refusal for what the vendor would refuse. */
  read(request: SimulatorRequest): Exchange;
  headers(facts: HeaderFacts): HeaderRow[];
  /** An error body. */
  error(refusal: Refusal, requestId: string, request: SimulatorRequest): string;
  /** The HTTP status of a refusal, where it is not the refusal's own. */
  statusOf?(refusal: Refusal): number;
}

/** A request that was understood, and the ways to answer it. */
export interface Exchange {
  readonly asked: ParsedRequest;
  /** The name that presets reach this call by; presets for any model or for its model pass it by. */
  readonly aside?: string;
  /** The script of what is asked about, under presets and the request's own. */
  readonly inherited?: Script;
  /** The status of a good answer, and headers beside the dialect's. Default 200. */
  readonly status?: number;
  readonly rows?: readonly HeaderRow[];
  /** The answer is these bytes, or a range of them. Asked for once the call is admitted. */
  bytes?(): ByteSource;
  /** How events are put on the wire; nothing or null: as server-sent events. */
  framing?(script: Script): Framing | null;
  /** What the vendor sends in long waits; null: a comment. */
  readonly ping: DialectEvent | null;
  /** A last look once the script is known, which may add to the truth. Throws Refusal. */
  admit?(script: Script, record: TruthRecord): void;
  /** The answer, where it is not the usual one made of words. */
  compose?(script: Script): Answer;
  whole(head: ReplyHead, answer: Answer): string;
  events(head: ReplyHead, answer: Answer): Iterable<DialectEvent>;
  /** An error in the middle of a stream, made when it is needed. */
  errorEvent(refusal: Refusal, requestId: string): DialectEvent;
}

/** What marks one answer. */
export interface ReplyHead {
  /** Different for each answer of this simulator. */
  readonly sequence: number;
  /** Unix seconds. */
  readonly created: number;
  readonly requestId: string;
  readonly script: Script;
}

export interface HeaderFacts {
  readonly requestId: string;
  /** Null when the request was not understood. */
  readonly asked: ParsedRequest | null;
  /** Null with a refusal. */
  readonly answer: Answer | null;
  readonly refusal: Refusal | null;
}

/** The vendor says no. `code` undefined: whatever is usual for the status. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;
  readonly param: string | null;
  readonly code: string | null | undefined;
  /** Of Anthropic's errors. */
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
