import type { EndpointId } from "#core/index.ts";

/** A part of a message in the JSON schemas of the conventions (semantic-conventions-genai, model/gen-ai). */
interface Part {
  readonly type: string;
  readonly [member: string]: unknown;
}

interface Message {
  readonly role: string;
  readonly parts: readonly Part[];
  readonly finish_reason?: string;
}

interface RequestContent {
  /** Instructions outside the list of messages. */
  readonly system: readonly Part[];
  readonly input: readonly Message[];
}

export type Members = Readonly<Record<string, unknown>>;

/** How the messages of an endpoint are read. `isTruncated`: the captured stream is incomplete. */
interface ContentReaders {
  readonly request: (body: Members) => RequestContent;
  readonly answer: (body: Members) => readonly Message[];
  readonly stream: (events: readonly Members[], isTruncated: boolean) => readonly Message[];
}

export const contentReaders: { readonly [Endpoint in EndpointId]?: ContentReaders } = {
  chat: {
    request: ({ messages }) => ({ system: [], input: membersIn(messages).map((one) => chatMessage(one, "user")) }),
    answer: ({ choices }) =>
      membersIn(choices).map((choice) =>
        withFinishReason(chatMessage(membersOf(choice["message"]), "assistant"), choice["finish_reason"]),
      ),
    stream: readChatStream,
  },
  messages: {
    request: ({ system, messages }) => ({
      system: partsOf(system),
      input: membersIn(messages).map(({ role, content }) => ({
        role: textOf(role) ?? "user",
        parts: partsOf(content),
      })),
    }),
    answer: ({ type, content, stop_reason }) =>
      type === "message" ? [withFinishReason({ role: "assistant", parts: partsOf(content) }, stop_reason)] : [],
    stream: readMessagesStream,
  },
  responses: { request: readResponsesRequest, answer: readResponse, stream: readResponseStream },
};

/** The members of an object; none of any other value. */
export function membersOf(value: unknown): Members {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : {};
}

function membersIn(value: unknown): readonly Members[] {
  return Array.isArray(value) ? value.map(membersOf) : [];
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function partsOf(content: unknown): readonly Part[] {
  return typeof content === "string" ? [textPart(content)] : membersIn(content).map(partOf);
}

/** Types mean the same in every dialect. Parts that the conventions do not define keep their type only. */
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

/** `args`: JSON text or a value, depending on the dialect. */
function callPart(id: unknown, name: unknown, args: unknown): Part {
  return { type: "tool_call", id: textOf(id), name: textOf(name) ?? "", arguments: parsedArguments(args) };
}

function parsedArguments(args: unknown): unknown {
  if (typeof args !== "string") return args;
  try {
    return JSON.parse(args);
  } catch {
    return args;
  }
}

function resultPart(id: unknown, content: unknown): Part {
  const response = typeof content === "string" ? content : partsOf(content);
  return { type: "tool_call_response", id: textOf(id), response };
}

/** The bytes of a file are not exported, only its type. */
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

/** A data URL is exported as its type only. */
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

function withFinishReason(message: Message, value: unknown): Message {
  const reason = textOf(value);
  return reason === null ? message : { ...message, finish_reason: finishReasons[reason] ?? reason };
}

/** Finish reasons of dialects as the conventions name them. */
const finishReasons: Readonly<Record<string, string>> = {
  tool_calls: "tool_call",
  function_call: "tool_call",
  tool_use: "tool_call",
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  refusal: "content_filter",
};

/** A stream without a finish reason failed, unless only the captured copy is incomplete. */
function streamEnd(reason: string | null, isTruncated: boolean): string | null {
  return reason ?? (isTruncated ? null : "error");
}

function chatMessage(message: Members, defaultRole: string): Message {
  const role = textOf(message["role"]) ?? defaultRole;
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
        const callee = membersOf(call["function"] ?? call["custom"]);
        return callPart(call["id"], callee["name"], callee["arguments"] ?? callee["input"]);
      }),
    ],
  };
}

function readChatStream(events: readonly Members[], isTruncated: boolean): readonly Message[] {
  const choices = new Map<number, StreamedChoice>();
  for (const choice of events.flatMap((event) => membersIn(event["choices"]))) {
    const index = Number(choice["index"] ?? 0);
    const streamed = choices.get(index) ?? new StreamedChoice();
    choices.set(index, streamed);
    streamed.add(membersOf(choice["delta"]));
    streamed.reason = textOf(choice["finish_reason"]) ?? streamed.reason;
  }
  return [...choices.values()].map((choice) =>
    withFinishReason(choice.message(), streamEnd(choice.reason, isTruncated)),
  );
}

class StreamedChoice {
  reason: string | null = null;
  #text = "";
  #reasoning = "";
  #refusal = "";
  readonly #calls = new Map<number, { id: unknown; name: string; args: string }>();

  add(delta: Members): void {
    this.#text += textOf(delta["content"]) ?? "";
    this.#reasoning += textOf(delta["reasoning_content"]) ?? textOf(delta["reasoning"]) ?? "";
    this.#refusal += textOf(delta["refusal"]) ?? "";
    for (const call of membersIn(delta["tool_calls"])) {
      const callee = membersOf(call["function"]);
      const index = Number(call["index"] ?? 0);
      const streamed = this.#calls.get(index) ?? { id: null, name: "", args: "" };
      this.#calls.set(index, streamed);
      streamed.id = call["id"] ?? streamed.id;
      streamed.name += textOf(callee["name"]) ?? "";
      streamed.args += textOf(callee["arguments"]) ?? "";
    }
  }

  message(): Message {
    return {
      role: "assistant",
      parts: [
        ...(this.#reasoning === "" ? [] : [reasoningPart(this.#reasoning)]),
        ...(this.#text === "" ? [] : [textPart(this.#text)]),
        ...(this.#refusal === "" ? [] : [{ type: "refusal", content: this.#refusal }]),
        ...[...this.#calls.values()].map(({ id, name, args }) => callPart(id, name, args)),
      ],
    };
  }
}

function readMessagesStream(events: readonly Members[], isTruncated: boolean): readonly Message[] {
  const blocks = new Map<unknown, { readonly start: Members; text: string }>();
  let reason: string | null = null;
  let hasStarted = false;
  for (const event of events) {
    const { type, index } = event;
    const delta = membersOf(event["delta"]);
    if (type === "message_start") hasStarted = true;
    else if (type === "message_delta") reason = textOf(delta["stop_reason"]) ?? reason;
    else if (type === "content_block_start") blocks.set(index, { start: membersOf(event["content_block"]), text: "" });
    else if (type === "content_block_delta") {
      const block = blocks.get(index);
      const more = textOf(delta["text"]) ?? textOf(delta["partial_json"]) ?? textOf(delta["thinking"]);
      if (block !== undefined) block.text += more ?? "";
    }
  }
  if (!hasStarted && blocks.size === 0) return [];
  const parts = [...blocks.values()].map(({ start, text }) => partOf(completeBlock(start, text)));
  return [withFinishReason({ role: "assistant", parts }, streamEnd(reason, isTruncated))];
}

function completeBlock(block: Members, text: string): Members {
  const { type } = block;
  if (type === "text" || type === "thinking") return { ...block, [type]: (textOf(block[type]) ?? "") + text };
  return text === "" ? block : { ...block, input: text };
}

function readResponsesRequest({ input, instructions }: Members): RequestContent {
  const system = textOf(instructions);
  return {
    system: system === null ? [] : [textPart(system)],
    input:
      typeof input === "string" ? [{ role: "user", parts: [textPart(input)] }] : membersIn(input).map(responsesMessage),
  };
}

function readResponse(body: Members): readonly Message[] {
  if (body["object"] !== "response") return [];
  const items = membersIn(body["output"]);
  return items.length === 0 ? [] : [withFinishReason(assistantMessage(items), finishReasonOf(body, items))];
}

/** Uses the final event, which holds the whole response, or else the items and deltas before it. */
function readResponseStream(events: readonly Members[], isTruncated: boolean): readonly Message[] {
  const items = new Map<unknown, Members>();
  const texts = new Map<unknown, string>();
  for (const event of events) {
    const { type, output_index: index } = event;
    if (type === "response.completed" || type === "response.incomplete" || type === "response.failed") {
      const whole = readResponse(membersOf(event["response"]));
      if (whole.length > 0) return whole;
    }
    if (type === "response.output_item.added" || type === "response.output_item.done") {
      items.set(index, membersOf(event["item"]));
      if (type === "response.output_item.done") texts.delete(index);
    } else if (typeof type === "string" && type.endsWith(".delta")) {
      texts.set(index, (texts.get(index) ?? "") + (textOf(event["delta"]) ?? ""));
    }
  }
  if (items.size === 0) return [];
  const all = [...items].map(([index, item]) => completeItem(item, texts.get(index) ?? ""));
  return [withFinishReason(assistantMessage(all), streamEnd(null, isTruncated))];
}

function completeItem(item: Members, text: string): Members {
  if (text === "") return item;
  if (item["type"] === "message") return { ...item, content: [{ type: "output_text", text }] };
  if (item["type"] === "reasoning") return { ...item, summary: [{ type: "summary_text", text }] };
  return { ...item, arguments: text };
}

function assistantMessage(items: readonly Members[]): Message {
  return { role: "assistant", parts: items.flatMap(itemParts) };
}

function finishReasonOf(body: Members, items: readonly Members[]): string | null {
  const { status } = body;
  if (status === "completed") return items.some(({ type }) => callTypes.has(textOf(type) ?? "")) ? "tool_call" : "stop";
  if (status === "failed") return "error";
  const reason = textOf(membersOf(body["incomplete_details"])["reason"]);
  return reason === "max_output_tokens" ? "length" : reason;
}

const callTypes = new Set(["function_call", "custom_tool_call"]);
const resultTypes = new Set(["function_call_output", "custom_tool_call_output"]);

function responsesMessage(item: Members): Message {
  const type = textOf(item["type"]) ?? "message";
  const role = textOf(item["role"]) ?? (resultTypes.has(type) ? "tool" : type === "message" ? "user" : "assistant");
  return { role, parts: itemParts(item) };
}

function itemParts(item: Members): readonly Part[] {
  const type = textOf(item["type"]) ?? "message";
  if (type === "message") return partsOf(item["content"]);
  if (callTypes.has(type)) return [callPart(item["call_id"], item["name"], item["arguments"] ?? item["input"])];
  if (resultTypes.has(type)) return [resultPart(item["call_id"], item["output"])];
  if (type === "reasoning") {
    return [...membersIn(item["summary"]), ...membersIn(item["content"])].map(({ text }) => reasoningPart(text));
  }
  return type === "compaction" ? [{ type, id: textOf(item["id"]) }] : [{ type }];
}
