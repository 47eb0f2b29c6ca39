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

/** A request of /v1/chat/completions. */
export function chatAsked(body: Members): Asked {
  return { system: [], input: listOf(body["messages"]).map((one) => messageOf(membersOf(one), "user")) };
}

export function chatAnswered(body: Members): readonly Message[] {
  return listOf(body["choices"]).map((one) => {
    const choice = membersOf(one);
    return finished(messageOf(membersOf(choice["message"]), "assistant"), choice["finish_reason"]);
  });
}

export function chatStreamed(events: readonly unknown[], isCut: boolean): readonly Message[] {
  const choices = new Map<number, Choice>();
  for (const event of events) {
    for (const one of listOf(membersOf(event)["choices"])) {
      const choice = membersOf(one);
      const index = Number(choice["index"] ?? 0);
      const kept = choices.get(index) ?? new Choice();
      choices.set(index, kept);
      kept.add(membersOf(choice["delta"]));
      kept.reason = textOf(choice["finish_reason"]) ?? kept.reason;
    }
  }
  // A reason that never came is an error of the stream, but not where only the copy of it ends.
  return [...choices.values()].map((choice) => finished(choice.message(), choice.reason ?? (isCut ? null : "error")));
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
    for (const one of listOf(delta["tool_calls"])) {
      const call = membersOf(one);
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

function messageOf(message: Members, otherwise: string): Message {
  const role = textOf(message["role"]) ?? otherwise;
  const content = contentOf(message["content"]);
  if (role === "tool") {
    const { content: said, tool_call_id: id } = message;
    return { role, parts: [resultPart(id, typeof said === "string" ? said : content)] };
  }
  const reasoning = textOf(message["reasoning_content"]) ?? textOf(message["reasoning"]);
  const refusal = textOf(message["refusal"]);
  return {
    role,
    parts: [
      ...(reasoning === null ? [] : [reasoningPart(reasoning)]),
      ...content,
      ...(refusal === null ? [] : [{ type: "refusal", content: refusal }]),
      ...listOf(message["tool_calls"]).map(callOf),
    ],
  };
}

function contentOf(content: unknown): readonly Part[] {
  return typeof content === "string" ? [textPart(content)] : listOf(content).map((one) => partOf(membersOf(one)));
}

function partOf(part: Members): Part {
  const { type } = part;
  if (type === "text") return textPart(textOf(part["text"]) ?? "");
  if (type === "refusal") return { type, content: textOf(part["refusal"]) ?? "" };
  if (type === "image_url") return mediaPart("image", membersOf(part["image_url"])["url"] ?? part["image_url"]);
  if (type === "input_audio") return blobPart("audio", `audio/${textOf(membersOf(part[type])["format"]) ?? "*"}`);
  if (type === "file") {
    const id = textOf(membersOf(part["file"])["file_id"]);
    return id === null ? blobPart("document", null) : filePart("document", id);
  }
  return otherPart(type);
}

function callOf(one: unknown): Part {
  const call = membersOf(one);
  const named = membersOf(call["function"] ?? call["custom"]);
  return callPart(call["id"], named["name"], named["arguments"] ?? named["input"]);
}

function finished(message: Message, reason: unknown): Message {
  const word = textOf(reason);
  return word === null ? message : { ...message, finish_reason: reasons[word] ?? word };
}

/** By the conventions' own words. */
const reasons: Readonly<Record<string, string>> = { tool_calls: "tool_call", function_call: "tool_call" };
