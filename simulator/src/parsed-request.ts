import type { Script } from "./script.ts";

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
