/** A call as the matrix words it, apart from every dialect. Each caller says it in its SDK's own words. */
export interface Ask {
  readonly model: string;
  readonly system?: string;
  readonly turns: readonly Said[];
  readonly tools?: readonly Tool[];
  /** Reasoning is asked for, and to be shown. */
  readonly thinks?: boolean;
  /** A JSON Schema that the answer must obey. */
  readonly schema?: Readonly<Record<string, unknown>>;
  readonly outputMax?: number;
  readonly toolChoice?: ToolChoice;
}

/** A tool must be called, a certain one, or none. */
export type ToolChoice = "any" | "none" | { readonly name: string };

export type Said =
  | { readonly by: "user"; readonly text: string; readonly imagePng?: string; readonly documentPdf?: string }
  | { readonly by: "model"; readonly text: string }
  /** An earlier answer, sent back exactly as the SDK gave it. */
  | { readonly by: "echo"; readonly heard: Heard }
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

/** An answer as the SDK gave it, apart from every dialect. */
export interface Heard {
  readonly text: string;
  /** Words with which the model refused, where the dialect keeps them apart from the text. */
  readonly refusal: string;
  /** What was thought, as far as it is shown. */
  readonly thinking: string;
  readonly calls: readonly HeardCall[];
  readonly stop: string;
  /** Throws when the answer has none. */
  usage(): HeardUsage;
  /** The answer in the caller's own dialect, to go back into the history. */
  readonly echo: readonly unknown[];
  /** Of a stream: its pieces of text, in the order in which they came. */
  readonly pieces: readonly string[];
  readonly exchange: Taped;
}

export interface HeardCall {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
}

/** Totals: `input` holds both cache classes, `output` the reasoning. null: the dialect has no place for it. */
export interface HeardUsage {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number | null;
  readonly output: number;
  readonly reasoning: number | null;
}

/** One HTTP exchange as it went over the wire. */
export interface Taped {
  readonly url: string;
  readonly sent: string;
  readonly status: number;
  readonly headers: Headers;
  /** The whole body, once the SDK has read it. */
  body(): string;
}

/** An SDK in front of the gateway. */
export interface Caller {
  readonly name: string;
  readonly dialect: CallerDialect;
  /** The one class with which the SDK tells every refusal. Without it: the class that the dialect's official SDK has. */
  readonly errorClass?: string;
  whole(ask: Ask): Promise<Heard>;
  /** Reads to the end. Throws what the SDK throws. */
  stream(ask: Ask): Promise<Heard>;
  /** The status and class name of the SDK's own error; null for anything else. */
  errorOf(
    thrown: unknown,
  ): { readonly status: number | undefined; readonly kind: string; readonly said: string } | null;
  /** Counts a prompt's tokens, for those dialects that can. */
  count?(ask: Ask): Promise<{ readonly tokens: number; readonly exchange: Taped }>;
}

export type CallerDialect = "chat" | "responses" | "messages" | "generate";

/** What could not be carried: from the header, or from comments in the stream. */
export function warningsOf(exchange: Taped): string {
  const comments = exchange.body().match(/^: sluice-warning: .*$/gm) ?? [];
  return [exchange.headers.get("x-sluice-warnings") ?? "", ...comments].filter((part) => part !== "").join("; ");
}
