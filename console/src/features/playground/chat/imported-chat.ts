import {
  type ChatSettings,
  nothingWritten,
  plainSettings,
  type Turn,
  type UserInput,
  type Written,
} from "./conversation.ts";
import {
  type ChatMessage,
  itemsOf,
  member,
  messagesInChat,
  messagesInContents,
  messagesInInteraction,
  messagesInResponses,
  textOf,
  wordsOf,
} from "./read-messages.ts";
import { noReply, type ToolCall } from "./reply.ts";

/** A conversation in the playground: earlier turns, the next message, and the settings. */
export interface ImportedChat {
  readonly turns: readonly Turn[];
  readonly draft: Written;
  readonly settings: ChatSettings;
}

/** The parts of a request body that the playground can show. */
interface Read {
  readonly messages: readonly ChatMessage[];
  readonly temperature: unknown;
  readonly maxTokens: unknown;
  readonly stop: unknown;
  /** In the format of chat completions. */
  readonly tools: readonly unknown[];
  readonly more: Readonly<Record<string, unknown>>;
}

/** Endpoints, by their names in the ledger, that can be opened in the playground. */
const readers: Readonly<Record<string, (body: object) => Read>> = {
  chat: readChat,
  messages: readMessages,
  responses: readResponses,
  generate: readGenerate,
  interactions: readInteraction,
};

/** The conversation in the request body of a chat endpoint. null: another endpoint. */
export function chatOfCall(endpoint: string, body: unknown, model: string): ImportedChat | null {
  const read = Object.hasOwn(readers, endpoint) ? readers[endpoint] : undefined;
  if (read === undefined || body === null || typeof body !== "object") return null;
  const { messages: said, temperature, maxTokens, stop, tools, more } = read(body);
  const { turns, draft } = conversationOf(said, model);
  const system = said.flatMap((each) => (each.by === "system" ? [each.text] : [])).join("\n\n");
  const stops = typeof stop === "string" ? [stop] : itemsOf(stop).filter((each) => typeof each === "string");
  const settings: ChatSettings = {
    ...plainSettings,
    system,
    temperature: typeof temperature === "number" ? temperature : null,
    maxTokens: typeof maxTokens === "number" ? maxTokens : null,
    stop: stops,
    tools: tools.length === 0 ? "" : JSON.stringify(tools, null, 2),
    more: Object.keys(more).length === 0 ? "" : JSON.stringify(more, null, 2),
  };
  return { turns, draft, settings };
}

/** The messages in the request body of a chat endpoint. null: another endpoint. */
export function messagesOfCall(endpoint: string, body: unknown): readonly ChatMessage[] | null {
  const read = Object.hasOwn(readers, endpoint) ? readers[endpoint] : undefined;
  return read === undefined || body === null || typeof body !== "object" ? null : read(body).messages;
}

/** Parameters that the playground sets. */
const own = /^(?:model|messages|stream|stream_options|temperature|max_tokens|max_completion_tokens|stop|tools)$/;

function readChat(body: object): Read {
  return {
    messages: messagesInChat(member(body, "messages")),
    temperature: member(body, "temperature"),
    maxTokens: member(body, "max_completion_tokens") ?? member(body, "max_tokens"),
    stop: member(body, "stop"),
    tools: itemsOf(member(body, "tools")),
    more: Object.fromEntries(Object.entries(body).filter(([name]) => !own.test(name))),
  };
}

function readMessages(body: object): Read {
  return {
    messages: [...systemIn(wordsOf(member(body, "system"))), ...messagesInChat(member(body, "messages"))],
    temperature: member(body, "temperature"),
    maxTokens: member(body, "max_tokens"),
    stop: member(body, "stop_sequences"),
    tools: functionsOf(itemsOf(member(body, "tools")), "input_schema"),
    more: topP(member(body, "top_p")),
  };
}

function readResponses(body: object): Read {
  return {
    messages: [...systemIn(textOf(body, "instructions")), ...messagesInResponses(member(body, "input"))],
    temperature: member(body, "temperature"),
    maxTokens: member(body, "max_output_tokens"),
    stop: undefined,
    tools: functionsOf(itemsOf(member(body, "tools")), "parameters"),
    more: topP(member(body, "top_p")),
  };
}

function readGenerate(body: object): Read {
  const config = member(body, "generationConfig");
  const system = member(body, "systemInstruction") ?? member(body, "system_instruction");
  const declared = itemsOf(member(body, "tools")).flatMap((tool) => itemsOf(member(tool, "functionDeclarations")));
  return {
    messages: [...systemIn(wordsOf(member(system, "parts"))), ...messagesInContents(member(body, "contents"))],
    temperature: member(config, "temperature"),
    maxTokens: member(config, "maxOutputTokens"),
    stop: member(config, "stopSequences"),
    tools: functionsOf(declared, "parameters"),
    more: topP(member(config, "topP")),
  };
}

function readInteraction(body: object): Read {
  const config = member(body, "generation_config");
  const functions = itemsOf(member(body, "tools")).filter((tool) => textOf(tool, "type") === "function");
  return {
    messages: [
      ...systemIn(wordsOf(member(body, "system_instruction"))),
      ...messagesInInteraction(member(body, "input")),
    ],
    temperature: member(config, "temperature"),
    maxTokens: member(config, "max_output_tokens"),
    stop: member(config, "stop_sequences"),
    tools: functionsOf(functions, "parameters"),
    more: topP(member(config, "top_p")),
  };
}

const systemIn = (text: string): readonly ChatMessage[] => (text === "" ? [] : [{ by: "system", text }]);
const topP = (value: unknown) => (typeof value === "number" ? { top_p: value } : {});

/** Functions in the format of chat completions; vendors' built-in tools are left out. */
function functionsOf(tools: readonly unknown[], schema: string): readonly unknown[] {
  return tools.flatMap((tool) => {
    const name = textOf(tool, "name");
    if (name === "") return [];
    const description = textOf(tool, "description");
    const parameters = member(tool, schema);
    const named = {
      name,
      ...(description === "" ? {} : { description }),
      ...(parameters == null ? {} : { parameters }),
    };
    return [{ type: "function", function: named }];
  });
}

interface Open extends Written {
  readonly results: Readonly<Record<string, string>>;
}

const nothingOpen: Open = { ...nothingWritten, results: {} };

/** Merges consecutive messages of one role. Unanswered messages become the next message. */
function conversationOf(said: readonly ChatMessage[], model: string): { turns: readonly Turn[]; draft: Written } {
  const turns: Turn[] = [];
  let open = nothingOpen;
  for (const each of said) {
    if (each.by === "user") {
      const { text, pictures, files } = open;
      open = {
        ...open,
        text: joined(text, each.text),
        pictures: [...pictures, ...each.pictures],
        files: [...files, ...each.files],
      };
    } else if (each.by === "tool") {
      open = { ...open, results: { ...open.results, [each.id]: each.text } };
    } else if (each.by === "model") {
      const last = turns.at(-1);
      if (last !== undefined && open === nothingOpen) turns[turns.length - 1] = longer(last, each.text, each.calls);
      else turns.push(turnOf(turns.length + 1, model, open, each.text, each.calls));
      open = nothingOpen;
    }
  }
  const { results: _, ...draft } = open;
  return { turns, draft };
}

function turnOf(id: number, model: string, open: Open, text: string, toolCalls: readonly ToolCall[]): Turn {
  const { results, ...written } = open;
  const input: UserInput =
    Object.keys(results).length > 0 ? { kind: "results", results } : { kind: "message", ...written };
  const reply = { ...noReply, text, toolCalls };
  return { id, model, input, reply, state: "done", served: null, problem: null };
}

function longer(turn: Turn, text: string, calls: readonly ToolCall[]): Turn {
  const { reply } = turn;
  return { ...turn, reply: { ...reply, text: joined(reply.text, text), toolCalls: [...reply.toolCalls, ...calls] } };
}

const joined = (one: string, other: string): string => [one, other].filter((text) => text !== "").join("\n\n");
