/** A call of the matrix, independent of dialect. Each caller translates it for its SDK. */
export interface CallSpec {
  readonly model: string;
  readonly system?: string;
  readonly turns: readonly Turn[];
  readonly tools?: readonly Tool[];
  /** Reasoning is requested and must be shown. */
  readonly thinks?: boolean;
  /** The JSON Schema of the answer. */
  readonly schema?: Readonly<Record<string, unknown>>;
  readonly outputMax?: number;
  readonly toolChoice?: ToolChoice;
}

/** Whether any tool, a particular one or none must be called. */
export type ToolChoice = "any" | "none" | { readonly name: string };

export type Turn =
  | { readonly by: "user"; readonly text: string; readonly imagePng?: string; readonly documentPdf?: string }
  | { readonly by: "model"; readonly text: string }
  /** An earlier answer, sent back exactly as the SDK returned it. */
  | { readonly by: "echo"; readonly result: CallResult }
  | { readonly by: "tools"; readonly results: readonly ToolResult[] };

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly parameters: { readonly type: "object"; readonly [member: string]: unknown };
}

interface ToolResult {
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

/** An answer of an SDK, independent of dialect. */
export interface CallResult {
  readonly text: string;
  /** The model's refusal, if the dialect separates it from the text. */
  readonly refusal: string;
  /** The reasoning text, as far as it is shown. */
  readonly thinking: string;
  readonly calls: readonly ToolCall[];
  readonly stop: string;
  /** Throws if the answer has no usage. */
  usage(): Usage;
  /** The answer in the caller's own dialect, for the conversation history. */
  readonly echo: readonly unknown[];
  /** The pieces of text of a stream, in order of arrival. */
  readonly pieces: readonly string[];
  readonly exchange: Exchange;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
}

/** Totals: `input` includes cache reads and writes, `output` includes reasoning. null if the dialect has no field for it. */
export interface Usage {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number | null;
  readonly output: number;
  readonly reasoning: number | null;
}

/** An HTTP exchange, as sent over the wire. */
export interface Exchange {
  readonly url: string;
  readonly sent: string;
  readonly status: number;
  readonly headers: Headers;
  /** The complete body, once the SDK has read it. */
  body(): string;
}

/** An SDK that calls the gateway. */
export interface Caller {
  readonly name: string;
  readonly dialect: CallerDialect;
  /** The error class that the SDK uses for every refusal; absent if it is the same as in the dialect's official SDK. */
  readonly errorClass?: string;
  whole(ask: CallSpec): Promise<CallResult>;
  /** Reads to the end. Throws the SDK's error. */
  stream(ask: CallSpec): Promise<CallResult>;
  /** The status, class name and message of the SDK's own error; null for other errors. */
  errorOf(
    thrown: unknown,
  ): { readonly status: number | undefined; readonly kind: string; readonly message: string } | null;
  /** Counts a prompt's tokens, if the dialect can. */
  count?(ask: CallSpec): Promise<{ readonly tokens: number; readonly exchange: Exchange }>;
}

export type CallerDialect = "chat" | "responses" | "messages" | "generate" | "interactions";

/** Warnings about fields that could not be translated, from the header or from comments in the stream. */
export function warningsOf(exchange: Exchange): string {
  const comments = exchange.body().match(/^: sluice-warning: .*$/gm) ?? [];
  return [exchange.headers.get("x-sluice-warnings") ?? "", ...comments].filter((part) => part !== "").join("; ");
}
