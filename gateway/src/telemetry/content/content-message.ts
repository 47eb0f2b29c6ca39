import type { EndpointId } from "#core/index.ts";

/** A piece of a message, by the conventions' JSON schemas of messages (semantic-conventions-genai, model/gen-ai). */
interface Part {
  readonly type: string;
  readonly [member: string]: unknown;
}

interface Message {
  readonly role: string;
  readonly parts: readonly Part[];
  readonly finish_reason?: string;
}

/** What was asked, and what came back. */
interface Asked {
  /** Instructions that stand apart from the messages; those among the messages stay there. */
  readonly system: readonly Part[];
  readonly input: readonly Message[];
}

export type Members = Readonly<Record<string, unknown>>;

/** How the messages of an endpoint are read. `isCut`: the copy of the stream ends before the stream. */
interface Dialect {
  readonly asked: (body: Members) => Asked;
  readonly answered: (body: Members) => readonly Message[];
  readonly streamed: (events: readonly Members[], isCut: boolean) => readonly Message[];
}

export const dialects: { readonly [Endpoint in EndpointId]?: Dialect } = {
  chat: {
    asked: ({ messages }) => ({ system: [], input: membersIn(messages).map((one) => chatMessage(one, "user")) }),
    answered: ({ choices }) =>
      membersIn(choices).map((choice) =>
        finished(chatMessage(membersOf(choice["message"]), "assistant"), choice["finish_reason"]),
      ),
    streamed: chatStreamed,
  },
  messages: {
    asked: ({ system, messages }) => ({
      system: partsOf(system),
      input: membersIn(messages).map(({ role, content }) => ({
        role: textOf(role) ?? "user",
        parts: partsOf(content),
      })),
    }),
    answered: ({ type, content, stop_reason }) =>
      type === "message" ? [finished({ role: "assistant", parts: partsOf(content) }, stop_reason)] : [],
    streamed: messagesStreamed,
  },
  responses: { asked: responsesAsked, answered: responsesAnswered, streamed: responsesStreamed },
};

/** What callers and upstreams wrote may have any form: what is not as expected counts as not there. */
export function membersOf(value: unknown): Members {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : none;
}

const none: Members = {};

function membersIn(value: unknown): readonly Members[] {
  return Array.isArray(value) ? value.map(membersOf) : [];
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** What a message holds: a text, or parts of whichever dialect. */
function partsOf(content: unknown): readonly Part[] {
  return typeof content === "string" ? [textPart(content)] : membersIn(content).map(partOf);
}

/** No two dialects mean different things by one type. One that the conventions have no part for is told by its type alone. */
function partOf(part: Members): Part {
  const type = textOf(part["type"]) ?? "unknown";
  const fileId = textOf(part["file_id"]);
  switch (type) {
    case "text":
    case "input_text":
    case "output_text":
      return textPart(part["text"]);
    case "refusal":
      return { type, content: textOf(part["refusal"]) ?? "" };
    case "thinking":
      return reasoningPart(part["thinking"]);
    case "image_url":
      return mediaPart("image", membersOf(part["image_url"])["url"] ?? part["image_url"]);
    case "input_image":
      return fileId === null ? mediaPart("image", part["image_url"]) : filePart("image", fileId);
    case "input_audio":
      return blobPart("audio", `audio/${textOf(membersOf(part[type])["format"]) ?? "*"}`);
    case "file":
      return documentPart(textOf(membersOf(part["file"])["file_id"]), undefined);
    case "input_file":
      return documentPart(fileId, part["file_url"]);
    case "image":
    case "document":
      return sourcePart(type, membersOf(part["source"]));
    case "tool_use":
      return callPart(part["id"], part["name"], part["input"]);
    case "tool_result":
      return resultPart(part["tool_use_id"], part["content"]);
    case "server_tool_use": {
      const { id, name, arguments: input } = callPart(part["id"], part["name"], part["input"]);
      return { type: "server_tool_call", id, name, server_tool_call: { type: name, input } };
    }
  }
  if (!type.endsWith("_tool_result")) return { type };
  const id = textOf(part["tool_use_id"]);
  return { type: "server_tool_call_response", id, server_tool_call_response: { type } };
}

function textPart(content: unknown): Part {
  return { type: "text", content: textOf(content) ?? "" };
}

function reasoningPart(content: unknown): Part {
  return { type: "reasoning", content: textOf(content) ?? "" };
}

/** `written`: the arguments as the dialect has them: a text of JSON, or the value itself. */
function callPart(id: unknown, name: unknown, written: unknown): Part {
  return { type: "tool_call", id: textOf(id), name: textOf(name) ?? "", arguments: argumentsOf(written) };
}

function argumentsOf(written: unknown): unknown {
  if (typeof written !== "string") return written;
  try {
    return JSON.parse(written);
  } catch {
    return written;
  }
}

function resultPart(id: unknown, content: unknown): Part {
  const response = typeof content === "string" ? content : partsOf(content);
  return { type: "tool_call_response", id: textOf(id), response };
}

/** Bytes are never sent on: of a file that stood in the message its kind is told. */
function blobPart(modality: string, mimeType: string | null): Part {
  return { type: "blob", modality, mime_type: mimeType, content: "" };
}

function filePart(modality: string, fileId: string): Part {
  return { type: "file", modality, file_id: fileId };
}

function documentPart(fileId: string | null, url: unknown): Part {
  if (fileId !== null) return filePart("document", fileId);
  return url === undefined ? blobPart("document", null) : mediaPart("document", url);
}

/** By its address, or by its kind where the address holds the bytes. */
function mediaPart(modality: string, address: unknown): Part {
  const url = textOf(address) ?? "";
  const data = /^data:([^;,]*)/i.exec(url);
  if (data !== null) return blobPart(modality, data[1] === "" ? null : (data[1] ?? null));
  return { type: "uri", modality, uri: url };
}

function sourcePart(modality: string, source: Members): Part {
  if (source["type"] === "url") return { type: "uri", modality, uri: textOf(source["url"]) ?? "" };
  if (source["type"] === "file") return filePart(modality, textOf(source["file_id"]) ?? "");
  if (source["type"] === "text") return textPart(source["data"]);
  return blobPart(modality, textOf(source["media_type"]));
}

/** By the conventions' own words; null: nobody knows how it ended. */
function finished(message: Message, reason: unknown): Message {
  const word = textOf(reason);
  return word === null ? message : { ...message, finish_reason: reasons[word] ?? word };
}

const reasons: Readonly<Record<string, string>> = {
  tool_calls: "tool_call",
  function_call: "tool_call",
  tool_use: "tool_call",
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  refusal: "content_filter",
};

/** A reason that never came is an error of the stream, but not where only the copy of it ends. */
function endOf(reason: string | null, isCut: boolean): string | null {
  return reason ?? (isCut ? null : "error");
}

function chatMessage(message: Members, otherwise: string): Message {
  const role = textOf(message["role"]) ?? otherwise;
  if (role === "tool") return { role, parts: [resultPart(message["tool_call_id"], message["content"])] };
  const reasoning = textOf(message["reasoning_content"]) ?? textOf(message["reasoning"]);
  const refusal = textOf(message["refusal"]);
  return {
    role,
    parts: [
      ...(reasoning === null ? [] : [reasoningPart(reasoning)]),
      ...partsOf(message["content"]),
      ...(refusal === null ? [] : [{ type: "refusal", content: refusal }]),
      ...membersIn(message["tool_calls"]).map((call) => {
        const named = membersOf(call["function"] ?? call["custom"]);
        return callPart(call["id"], named["name"], named["arguments"] ?? named["input"]);
      }),
    ],
  };
}

function chatStreamed(events: readonly Members[], isCut: boolean): readonly Message[] {
  const choices = new Map<number, Choice>();
  for (const choice of events.flatMap((event) => membersIn(event["choices"]))) {
    const index = Number(choice["index"] ?? 0);
    const kept = choices.get(index) ?? new Choice();
    choices.set(index, kept);
    kept.add(membersOf(choice["delta"]));
    kept.reason = textOf(choice["finish_reason"]) ?? kept.reason;
  }
  return [...choices.values()].map((choice) => finished(choice.message(), endOf(choice.reason, isCut)));
}

/** A choice in the making. */
class Choice {
  reason: string | null = null;
  #text = "";
  #reasoning = "";
  #refusal = "";
  readonly #calls = new Map<number, { id: unknown; name: string; written: string }>();

  add(delta: Members): void {
    this.#text += textOf(delta["content"]) ?? "";
    this.#reasoning += textOf(delta["reasoning_content"]) ?? textOf(delta["reasoning"]) ?? "";
    this.#refusal += textOf(delta["refusal"]) ?? "";
    for (const call of membersIn(delta["tool_calls"])) {
      const named = membersOf(call["function"]);
      const index = Number(call["index"] ?? 0);
      const kept = this.#calls.get(index) ?? { id: null, name: "", written: "" };
      this.#calls.set(index, kept);
      kept.id = call["id"] ?? kept.id;
      kept.name += textOf(named["name"]) ?? "";
      kept.written += textOf(named["arguments"]) ?? "";
    }
  }

  message(): Message {
    return {
      role: "assistant",
      parts: [
        ...(this.#reasoning === "" ? [] : [reasoningPart(this.#reasoning)]),
        ...(this.#text === "" ? [] : [textPart(this.#text)]),
        ...(this.#refusal === "" ? [] : [{ type: "refusal", content: this.#refusal }]),
        ...[...this.#calls.values()].map(({ id, name, written }) => callPart(id, name, written)),
      ],
    };
  }
}

function messagesStreamed(events: readonly Members[], isCut: boolean): readonly Message[] {
  const blocks = new Map<unknown, { readonly begun: Members; written: string }>();
  let reason: string | null = null;
  let begun = false;
  for (const event of events) {
    const { type, index } = event;
    const delta = membersOf(event["delta"]);
    if (type === "message_start") begun = true;
    else if (type === "message_delta") reason = textOf(delta["stop_reason"]) ?? reason;
    else if (type === "content_block_start")
      blocks.set(index, { begun: membersOf(event["content_block"]), written: "" });
    else if (type === "content_block_delta") {
      const block = blocks.get(index);
      const more = textOf(delta["text"]) ?? textOf(delta["partial_json"]) ?? textOf(delta["thinking"]);
      if (block !== undefined) block.written += more ?? "";
    }
  }
  if (!begun && blocks.size === 0) return [];
  const parts = [...blocks.values()].map(({ begun: block, written }) => partOf(filledBlock(block, written)));
  return [finished({ role: "assistant", parts }, endOf(reason, isCut))];
}

/** A block of a stream with what came for it. */
function filledBlock(block: Members, written: string): Members {
  const { type } = block;
  if (type === "text" || type === "thinking") return { ...block, [type]: (textOf(block[type]) ?? "") + written };
  return written === "" ? block : { ...block, input: written };
}

function responsesAsked({ input, instructions }: Members): Asked {
  const system = textOf(instructions);
  return {
    system: system === null ? [] : [textPart(system)],
    input:
      typeof input === "string" ? [{ role: "user", parts: [textPart(input)] }] : membersIn(input).map(responsesMessage),
  };
}

function responsesAnswered(body: Members): readonly Message[] {
  if (body["object"] !== "response") return [];
  const items = membersIn(body["output"]);
  return items.length === 0 ? [] : [finished(responsesAnswer(items), reasonOf(body, items))];
}

/** By the event that ends it, which has all of it; where that is not there, by what came before. */
function responsesStreamed(events: readonly Members[], isCut: boolean): readonly Message[] {
  const items = new Map<unknown, Members>();
  const written = new Map<unknown, string>();
  for (const event of events) {
    const { type, output_index: index } = event;
    if (type === "response.completed" || type === "response.incomplete" || type === "response.failed") {
      const whole = responsesAnswered(membersOf(event["response"]));
      if (whole.length > 0) return whole;
    }
    if (type === "response.output_item.added" || type === "response.output_item.done") {
      items.set(index, membersOf(event["item"]));
      if (type === "response.output_item.done") written.delete(index);
    } else if (typeof type === "string" && type.endsWith(".delta")) {
      written.set(index, (written.get(index) ?? "") + (textOf(event["delta"]) ?? ""));
    }
  }
  if (items.size === 0) return [];
  const all = [...items].map(([index, item]) => filledItem(item, written.get(index) ?? ""));
  return [finished(responsesAnswer(all), endOf(null, isCut))];
}

/** An item that is not whole, with what came for it. */
function filledItem(item: Members, written: string): Members {
  if (written === "") return item;
  if (item["type"] === "message") return { ...item, content: [{ type: "output_text", text: written }] };
  if (item["type"] === "reasoning") return { ...item, summary: [{ type: "summary_text", text: written }] };
  return { ...item, arguments: written };
}

function responsesAnswer(items: readonly Members[]): Message {
  return { role: "assistant", parts: items.flatMap(itemParts) };
}

function reasonOf(body: Members, items: readonly Members[]): string | null {
  const { status } = body;
  if (status === "completed") return items.some(({ type }) => calls.has(textOf(type) ?? "")) ? "tool_call" : "stop";
  if (status === "failed") return "error";
  const why = textOf(membersOf(body["incomplete_details"])["reason"]);
  return why === "max_output_tokens" ? "length" : why;
}

const calls = new Set(["function_call", "custom_tool_call"]);
const outputs = new Set(["function_call_output", "custom_tool_call_output"]);

function responsesMessage(item: Members): Message {
  const type = textOf(item["type"]) ?? "message";
  const role = textOf(item["role"]) ?? (outputs.has(type) ? "tool" : type === "message" ? "user" : "assistant");
  return { role, parts: itemParts(item) };
}

function itemParts(item: Members): readonly Part[] {
  const type = textOf(item["type"]) ?? "message";
  if (type === "message") return partsOf(item["content"]);
  if (calls.has(type)) return [callPart(item["call_id"], item["name"], item["arguments"] ?? item["input"])];
  if (outputs.has(type)) return [resultPart(item["call_id"], item["output"])];
  if (type === "reasoning") {
    return [...membersIn(item["summary"]), ...membersIn(item["content"])].map(({ text }) => reasoningPart(text));
  }
  return type === "compaction" ? [{ type, id: textOf(item["id"]) }] : [{ type }];
}
