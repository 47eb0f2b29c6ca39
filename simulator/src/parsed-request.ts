import type { Script } from "./script.ts";

/** A request as the simulator understands it, in any dialect. */
export interface ParsedRequest {
  /** As the caller wrote it, but without a script prefix. */
  readonly model: string;
  readonly stream: boolean;
  /** The last user text, without its script marker. */
  readonly prompt: string;
  /** The whole tokenizer: counts words of all message text, separated by white space, without script markers. */
  readonly promptTokens: number;
  readonly outputMax: number;
  readonly choices: number;
  /** The tools to call instead of a text answer if no script decides: one or none. */
  readonly calls: readonly RequestedTool[];
  /** The tools that a script may call. */
  readonly callable: readonly RequestedTool[];
  /** False: at most one call. */
  readonly parallel: boolean;
  /** A schema for the text, as parsed JSON; null for plain text. */
  readonly schema: unknown;
  /** Whether reasoning precedes the answer. */
  readonly thinks: boolean;
  /** The answer contains an image, alone or after text. */
  readonly image: "alone" | "after text" | null;
  /** The scripts from the model name and from the message; the latter takes precedence. */
  readonly script: Script;
}

export interface RequestedTool {
  readonly kind: "function" | "custom";
  readonly name: string;
  readonly parameters: unknown;
  readonly namespace?: string;
}

/** The request of a call that is not a conversation. */
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
