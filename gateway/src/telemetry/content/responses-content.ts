import {
  type Asked,
  blobPart,
  callPart,
  filePart,
  listOf,
  type Members,
  type Message,
  mediaPart,
  membersOf,
  otherPart,
  type Part,
  reasoningPart,
  resultPart,
  textOf,
  textPart,
} from "./content-message.ts";

/** A request of /v1/responses. */
export function responsesAsked(body: Members): Asked {
  const { input, instructions } = body;
  const said = textOf(instructions);
  return {
    system: said === null ? [] : [textPart(said)],
    input:
      typeof input === "string"
        ? [{ role: "user", parts: [textPart(input)] }]
        : listOf(input).map((one) => messageOf(membersOf(one))),
  };
}

export function responsesAnswered(body: Members): readonly Message[] {
  if (body["object"] !== "response") return [];
  const items = listOf(body["output"]).map(membersOf);
  return items.length === 0 ? [] : [answerOf(items, reasonOf(body, items))];
}

/** By the event that ends it, which has all of it; where that is not there, by what came before. */
export function responsesStreamed(events: readonly unknown[], isCut: boolean): readonly Message[] {
  const items = new Map<unknown, Members>();
  const written = new Map<unknown, string>();
  for (const one of events) {
    const event = membersOf(one);
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
  const all = [...items].map(([index, item]) => filled(item, written.get(index) ?? ""));
  return [answerOf(all, isCut ? null : "error")];
}

/** An item that is not whole, with what came for it. */
function filled(item: Members, written: string): Members {
  if (written === "") return item;
  if (item["type"] === "message") return { ...item, content: [{ type: "output_text", text: written }] };
  if (item["type"] === "reasoning") return { ...item, summary: [{ type: "summary_text", text: written }] };
  return { ...item, arguments: written };
}

function answerOf(items: readonly Members[], reason: string | null): Message {
  const message = { role: "assistant", parts: items.flatMap(partsOf) };
  return reason === null ? message : { ...message, finish_reason: reason };
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

function messageOf(item: Members): Message {
  const type = textOf(item["type"]) ?? "message";
  const role = textOf(item["role"]) ?? (outputs.has(type) ? "tool" : type === "message" ? "user" : "assistant");
  return { role, parts: partsOf(item) };
}

function partsOf(item: Members): readonly Part[] {
  const type = textOf(item["type"]) ?? "message";
  if (type === "message") return contentOf(item["content"]);
  if (calls.has(type)) return [callPart(item["call_id"], item["name"], item["arguments"] ?? item["input"])];
  if (outputs.has(type)) {
    const { output } = item;
    return [resultPart(item["call_id"], typeof output === "string" ? output : contentOf(output))];
  }
  if (type === "reasoning") {
    const thoughts = [...listOf(item["summary"]), ...listOf(item["content"])];
    return thoughts.map((one) => reasoningPart(textOf(membersOf(one)["text"]) ?? ""));
  }
  if (type === "compaction") return [{ type, id: textOf(item["id"]) }];
  return [otherPart(type)];
}

function contentOf(content: unknown): readonly Part[] {
  return typeof content === "string" ? [textPart(content)] : listOf(content).map((one) => partOf(membersOf(one)));
}

function partOf(part: Members): Part {
  const { type } = part;
  if (type === "input_text" || type === "output_text" || type === "text") return textPart(textOf(part["text"]) ?? "");
  if (type === "refusal") return { type, content: textOf(part["refusal"]) ?? "" };
  const id = textOf(part["file_id"]);
  if (type === "input_image") return id === null ? mediaPart("image", part["image_url"]) : filePart("image", id);
  if (type === "input_file") {
    if (id !== null) return filePart("document", id);
    return part["file_url"] === undefined ? blobPart("document", null) : mediaPart("document", part["file_url"]);
  }
  return otherPart(type);
}
