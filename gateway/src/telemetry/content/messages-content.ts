import {
  type Asked,
  blobPart,
  callPart,
  filePart,
  listOf,
  type Members,
  type Message,
  membersOf,
  otherPart,
  type Part,
  reasoningPart,
  resultPart,
  textOf,
  textPart,
} from "./content-message.ts";

/** A request of /v1/messages. */
export function messagesAsked(body: Members): Asked {
  return {
    system: contentOf(body["system"]),
    input: listOf(body["messages"]).map((one) => {
      const message = membersOf(one);
      return { role: textOf(message["role"]) ?? "user", parts: contentOf(message["content"]) };
    }),
  };
}

export function messagesAnswered(body: Members): readonly Message[] {
  if (body["type"] !== "message") return [];
  return [finished(contentOf(body["content"]), body["stop_reason"])];
}

export function messagesStreamed(events: readonly unknown[], isCut: boolean): readonly Message[] {
  const blocks = new Map<unknown, { readonly begun: Members; written: string }>();
  let reason: string | null = null;
  let begun = false;
  for (const one of events) {
    const event = membersOf(one);
    const { type, index } = event;
    if (type === "message_start") begun = true;
    else if (type === "content_block_start")
      blocks.set(index, { begun: membersOf(event["content_block"]), written: "" });
    else if (type === "content_block_delta") {
      const delta = membersOf(event["delta"]);
      const block = blocks.get(index);
      const more = textOf(delta["text"]) ?? textOf(delta["partial_json"]) ?? textOf(delta["thinking"]);
      if (block !== undefined) block.written += more ?? "";
    } else if (type === "message_delta") reason = textOf(membersOf(event["delta"])["stop_reason"]) ?? reason;
  }
  if (!begun && blocks.size === 0) return [];
  const parts = [...blocks.values()].map(({ begun: block, written }) => partOf(filled(block, written)));
  return [finished(parts, reason ?? (isCut ? null : "error"))];
}

/** A block of a stream with what came for it. */
function filled(block: Members, written: string): Members {
  if (block["type"] === "text") return { ...block, text: (textOf(block["text"]) ?? "") + written };
  if (block["type"] === "thinking") return { ...block, thinking: (textOf(block["thinking"]) ?? "") + written };
  return written === "" ? block : { ...block, input: written };
}

function contentOf(content: unknown): readonly Part[] {
  return typeof content === "string" ? [textPart(content)] : listOf(content).map((one) => partOf(membersOf(one)));
}

function partOf(block: Members): Part {
  const type = textOf(block["type"]) ?? "";
  if (type === "text") return textPart(textOf(block["text"]) ?? "");
  if (type === "thinking") return reasoningPart(textOf(block["thinking"]) ?? "");
  if (type === "image" || type === "document") return sourcePart(type, membersOf(block["source"]));
  if (type === "tool_use") return callPart(block["id"], block["name"], block["input"]);
  if (type === "tool_result") {
    const { content } = block;
    return resultPart(block["tool_use_id"], typeof content === "string" ? content : contentOf(content));
  }
  if (type === "server_tool_use") {
    const name = textOf(block["name"]) ?? "";
    const { arguments: input } = callPart(null, name, block["input"]);
    return { type: "server_tool_call", id: textOf(block["id"]), name, server_tool_call: { type: name, input } };
  }
  if (type.endsWith("_tool_result")) {
    const id = textOf(block["tool_use_id"]);
    return { type: "server_tool_call_response", id, server_tool_call_response: { type } };
  }
  return otherPart(type);
}

function sourcePart(modality: string, source: Members): Part {
  if (source["type"] === "url") return { type: "uri", modality, uri: textOf(source["url"]) ?? "" };
  if (source["type"] === "file") return filePart(modality, textOf(source["file_id"]) ?? "");
  if (source["type"] === "text") return textPart(textOf(source["data"]) ?? "");
  return blobPart(modality, textOf(source["media_type"]));
}

function finished(parts: readonly Part[], reason: unknown): Message {
  const word = textOf(reason);
  const message = { role: "assistant", parts };
  return word === null ? message : { ...message, finish_reason: reasons[word] ?? word };
}

/** By the conventions' own words. */
const reasons: Readonly<Record<string, string>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  tool_use: "tool_call",
  refusal: "content_filter",
};
