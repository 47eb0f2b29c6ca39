import type { Answer } from "./answer.ts";
import type { HeaderRow } from "./outlet.ts";
import type { Script } from "./script.ts";

/** A request as this simulator understands it, whatever the dialect. */
export interface Asked {
  /** As the caller wrote it, without a script prefix. */
  readonly model: string;
  readonly stream: boolean;
  /** The last user text, without its script mark. */
  readonly prompt: string;
  /** Whitespace-separated words of all message text, script marks left out: our whole tokenizer. */
  readonly promptTokens: number;
  readonly outputMax: number;
  readonly choices: number;
  /** A function to call instead of a text answer. */
  readonly tool: AskedTool | null;
  /** A schema the text must obey, as parsed JSON; null when plain text is wanted. */
  readonly schema: unknown;
  readonly includeUsage: boolean;
  readonly logprobs: boolean;
  /** Scripts found in the model name and in the message, the latter winning. */
  readonly script: Script;
}

export interface AskedTool {
  readonly name: string;
  readonly parameters: unknown;
}

export interface DialectEvent {
  /** The text after `data: `. */
  readonly data: string;
  /** The name after `event: `, in dialects that have one. */
  readonly event?: string;
  readonly tokens: number;
  readonly role?: "content" | "usage" | "terminal";
}

export interface Reply {
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
}

/** A vendor's way of speaking: one file each. Reading is lenient; what is sent is exactly the vendor's shape. */
export interface Dialect {
  readonly id: string;
  /** Whether this request is this dialect's generation call. */
  matches(method: string, path: string): boolean;
  /** Throws Refusal for what the vendor would refuse. */
  read(body: Uint8Array): Asked;
  reply(reply: Reply, asked: Asked, answer: Answer): string;
  events(reply: Reply, asked: Asked, answer: Answer): Iterable<DialectEvent>;
  headers(requestId: string, asked: Asked | null): HeaderRow[];
  /** An error body; also the data of an error event. */
  error(refusal: Refusal): string;
}

/** The vendor says no. `type` and `code` null: whatever is usual for the status. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;
  readonly param: string | null;
  readonly code: string | null;

  constructor(status: number, message: string, options: { param?: string; code?: string } = {}) {
    super(message);
    this.status = status;
    this.param = options.param ?? null;
    this.code = options.code ?? null;
  }
}
