import type { Problem } from "../../../client/problem.ts";
import type { Fields } from "../../media/more-fields.ts";
import type { Reply, ToolCall } from "./reply.ts";
import type { Served } from "./stream-chat.ts";

/** A user's message: text and images, or tool results. */
export type Asked =
  | { readonly kind: "message"; readonly text: string; readonly pictures: readonly string[] }
  | { readonly kind: "results"; readonly results: Readonly<Record<string, string>> };

export interface Turn {
  readonly id: number;
  readonly model: string;
  readonly asked: Asked;
  readonly reply: Reply;
  readonly state: "running" | "done" | "stopped" | "failed";
  readonly served: Served | null;
  readonly problem: Problem | null;
}

type Part =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image_url"; readonly image_url: { readonly url: string } };

export type Message =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user"; readonly content: string | readonly Part[] }
  | {
      readonly role: "assistant";
      readonly content: string | null;
      readonly tool_calls?: readonly {
        readonly id: string;
        readonly type: "function";
        readonly function: { readonly name: string; readonly arguments: string };
      }[];
    }
  | { readonly role: "tool"; readonly tool_call_id: string; readonly content: string };

/**
 * What the model is told: the turns that came to an end, then what is asked now. A failed turn would confuse it and is left
 * out. Every call of a tool needs a result, so one that was passed over gets the word that it was not run.
 */
export function messagesOf(system: string, turns: readonly Turn[], asked: Asked): Message[] {
  const messages: Message[] = system.trim() === "" ? [] : [{ role: "system", content: system }];
  let open: readonly ToolCall[] = [];
  for (const turn of turns) {
    if (!isWhole(turn)) continue;
    messages.push(...askedMessages(turn.asked, open));
    open = openCalls(turn);
    messages.push(answerMessage(turn.reply.text, open));
  }
  return [...messages, ...askedMessages(asked, open)];
}

/** The tools that a turn waits for. One that was stopped may have been cut in the middle of its arguments. */
export function openCalls(turn: Turn | undefined): readonly ToolCall[] {
  return turn?.state === "done" ? turn.reply.toolCalls : [];
}

function isWhole({ state, reply }: Turn): boolean {
  return (state === "done" || state === "stopped") && (reply.text !== "" || (state === "done" && hasCalls(reply)));
}

function hasCalls({ toolCalls }: Reply): boolean {
  return toolCalls.length > 0;
}

/** For the model, not for who reads the page: the same in every language. */
const notRun = "This tool was not run.";

function askedMessages(asked: Asked, open: readonly ToolCall[]): Message[] {
  const results = asked.kind === "results" ? asked.results : {};
  const told = open.map(
    ({ id }): Message => ({ role: "tool", tool_call_id: id, content: results[id]?.trim() || notRun }),
  );
  if (asked.kind === "results") return told;
  return [...told, { role: "user", content: contentOf(asked.text, asked.pictures) }];
}

function contentOf(text: string, pictures: readonly string[]): string | readonly Part[] {
  if (pictures.length === 0) return text;
  const shown = pictures.map((url): Part => ({ type: "image_url", image_url: { url } }));
  return text === "" ? shown : [{ type: "text", text }, ...shown];
}

function answerMessage(text: string, calls: readonly ToolCall[]): Message {
  if (calls.length === 0) return { role: "assistant", content: text };
  return {
    role: "assistant",
    content: text === "" ? null : text,
    tool_calls: calls.map((call) => ({
      id: call.id,
      type: "function",
      function: { name: call.name, arguments: call.arguments },
    })),
  };
}

/** The settings of a request. `null` and empty values use the model's defaults. */
export interface ChatSettings {
  readonly system: string;
  readonly temperature: number | null;
  readonly maxTokens: number | null;
  readonly stop: readonly string[];
  /** JSON, as it was written. */
  readonly tools: string;
  readonly more: string;
}

export const plainSettings: ChatSettings = {
  system: "",
  temperature: null,
  maxTokens: null,
  stop: [],
  tools: "",
  more: "",
};

/** The body of the call. `tools` and `more` have been read already. */
export function chatBody(
  model: string,
  messages: readonly Message[],
  settings: ChatSettings,
  { tools, more }: { readonly tools: readonly unknown[]; readonly more: Fields },
): Fields {
  const { temperature, maxTokens, stop } = settings;
  return {
    model,
    messages,
    stream: true,
    stream_options: { include_usage: true },
    ...(temperature === null ? {} : { temperature }),
    // The gateway gives it its older name where an upstream knows no other.
    ...(maxTokens === null ? {} : { max_completion_tokens: maxTokens }),
    ...(stop.length === 0 ? {} : { stop }),
    ...(tools.length === 0 ? {} : { tools }),
    ...more,
  };
}
