import type { Problem } from "../../../client/problem.ts";
import type { Fields } from "../../media/more-fields.ts";
import type { Reply, ToolCall } from "./reply.ts";
import type { Served } from "./stream-chat.ts";

/** A file of the workspace. */
export interface AttachedFile {
  readonly id: string;
  readonly name: string;
}

export interface Written {
  readonly text: string;
  /** URLs. */
  readonly pictures: readonly string[];
  readonly files: readonly AttachedFile[];
}

export const nothingWritten: Written = { text: "", pictures: [], files: [] };

/** Whether there is something to send. */
export function isWritten({ text, pictures, files }: Written): boolean {
  return text.trim() !== "" || pictures.length > 0 || files.length > 0;
}

/** A user's message, or tool results. */
export type UserInput =
  | ({ readonly kind: "message" } & Written)
  | { readonly kind: "results"; readonly results: Readonly<Record<string, string>> };

export interface Turn {
  readonly id: number;
  readonly model: string;
  readonly input: UserInput;
  readonly reply: Reply;
  readonly state: "running" | "done" | "stopped" | "failed";
  readonly served: Served | null;
  readonly problem: Problem | null;
}

type Part =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image_url"; readonly image_url: { readonly url: string } }
  | { readonly type: "file"; readonly file: { readonly file_id: string } };

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
 * The messages to send: the completed turns, then the new input. Failed turns are left out, because they would confuse the model.
 * Every tool call needs a result, so skipped ones get the result that the tool was not run.
 */
export function messagesOf(system: string, turns: readonly Turn[], input: UserInput): Message[] {
  const messages: Message[] = system.trim() === "" ? [] : [{ role: "system", content: system }];
  let open: readonly ToolCall[] = [];
  for (const turn of turns) {
    if (!isWhole(turn)) continue;
    messages.push(...inputMessages(turn.input, open));
    open = openCalls(turn);
    messages.push(answerMessage(turn.reply.text, open));
  }
  return [...messages, ...inputMessages(input, open)];
}

/** Tool calls that a turn waits for. Stopped turns have none, because their arguments may be incomplete. */
export function openCalls(turn: Turn | undefined): readonly ToolCall[] {
  return turn?.state === "done" ? turn.reply.toolCalls : [];
}

function isWhole({ state, reply }: Turn): boolean {
  return (state === "done" || state === "stopped") && (reply.text !== "" || (state === "done" && hasCalls(reply)));
}

function hasCalls({ toolCalls }: Reply): boolean {
  return toolCalls.length > 0;
}

/** For the model, not for users: the same in every language. */
const notRun = "This tool was not run.";

function inputMessages(input: UserInput, open: readonly ToolCall[]): Message[] {
  const results = input.kind === "results" ? input.results : {};
  const toolMessages = open.map(
    ({ id }): Message => ({ role: "tool", tool_call_id: id, content: results[id]?.trim() || notRun }),
  );
  if (input.kind === "results") return toolMessages;
  return [...toolMessages, { role: "user", content: contentOf(input) }];
}

function contentOf({ text, pictures, files }: Written): string | readonly Part[] {
  if (pictures.length === 0 && files.length === 0) return text;
  const shown = [
    ...pictures.map((url): Part => ({ type: "image_url", image_url: { url } })),
    ...files.map(({ id }): Part => ({ type: "file", file: { file_id: id } })),
  ];
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
    // The gateway renames it for upstreams that only support `max_tokens`.
    ...(maxTokens === null ? {} : { max_completion_tokens: maxTokens }),
    ...(stop.length === 0 ? {} : { stop }),
    ...(tools.length === 0 ? {} : { tools }),
    ...more,
  };
}
