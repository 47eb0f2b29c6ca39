import type { Answer } from "./answer.ts";
import type { ByteSource } from "./byte-source.ts";
import type { Framing } from "./framing.ts";
import type { HeaderRow } from "./outlet.ts";
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

/** A request as this simulator understands it, whatever the dialect. */
export interface ParsedRequest {
  /** As the caller wrote it, without a script prefix. */
  readonly model: string;
  readonly stream: boolean;
  /** The last user text, without its script mark. */
  readonly prompt: string;
  /** Whitespace-separated words of all message text, script marks left out: our whole tokenizer. */
  readonly promptTokens: number;
  readonly outputMax: number;
  readonly choices: number;
  /** The tools to call instead of a text answer, as the request alone decides: one or none. */
  readonly calls: readonly RequestedTool[];
  /** The tools a script may have called. */
  readonly callable: readonly RequestedTool[];
  /** False: never more than one call. */
  readonly parallel: boolean;
  /** A schema the text must obey, as parsed JSON; null when plain text is wanted. */
  readonly schema: unknown;
  /** Whether reasoning comes before the answer. */
  readonly thinks: boolean;
  /** An image wanted in the answer, alone or after text. */
  readonly image: "alone" | "after text" | null;
  /** Scripts found in the model name and in the message, the latter winning. */
  readonly script: Script;
}

export interface RequestedTool {
  readonly kind: "function" | "custom";
  readonly name: string;
  readonly parameters: unknown;
  readonly namespace?: string;
}

export interface DialectEvent {
  /** The text after `data: `, or the payload of a binary frame. */
  readonly data: string;
  /** The name after `event: `, or the type of a binary frame, in dialects that have one. */
  readonly event?: string;
  /** Output tokens that leave with this event. */
  readonly tokens: number;
  /** `last`: terminal, with the usage in it. */
  readonly role?: "content" | "usage" | "terminal" | "last" | "error";
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

  constructor(status: number, message: string, options: { param?: string; code?: string | null } = {}) {
    super(message);
    this.status = status;
    this.param = options.param ?? null;
    this.code = options.code;
  }
}

/** What is asked by a call that is no conversation. */
export function bareRequest(model: string, promptTokens = 0): ParsedRequest {
  return {
    model,
    stream: false,
    prompt: "",
    promptTokens,
    outputMax: Number.POSITIVE_INFINITY,
    choices: 1,
    calls: [],
    callable: [],
    parallel: false,
    schema: null,
    thinks: false,
    image: null,
    script: {},
  };
}
