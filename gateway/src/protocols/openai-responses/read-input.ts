import type {
  Failure,
  MediaPart,
  MediaSource,
  ReasoningPart,
  Seal,
  TextPart,
  TurnMessage,
  TurnPart,
  TurnRole,
  TurnTool,
} from "#core/index.ts";
import type { Warn } from "../codec.ts";
import {
  arrayOf,
  expectText,
  invalid,
  isObject,
  type JsonObject,
  objectOf,
  textOf,
  unsupported,
} from "../json/value.ts";
import { customArguments } from "../openai-chat/custom-tool.ts";
import { readDataUri } from "../turn/data-uri.ts";
import { readCacheHint } from "../turn/prompt-cache.ts";
import { argumentsOrEmpty } from "../turn/tool-calls.ts";
import { quotableName, warnOfCaller } from "../turn/warnings.ts";
import { readSummary } from "./compaction.ts";
import { thoughtsOf } from "./item-readers.ts";
import { readSealedContent } from "./output-items.ts";
import { readTools } from "./read-tools.ts";
import { foundToolsText, joinedName, searchArgumentsText, searchToolName } from "./tool-kinds.ts";

/** Reads `input`. Neighboring items of the assistant are joined, and so are tool results. */
export class InputReader {
  /** Leading instructions. */
  readonly system: TextPart[] = [];
  readonly messages: TurnMessage[] = [];
  /** Tools added by the input. */
  readonly tools: TurnTool[] = [];
  /** The input ends with a compaction_trigger. */
  endsWithCompaction = false;

  readonly #warn: Warn;
  readonly #names = new Map<string, string>();
  /** The last message, if further parts may join it. */
  #open: { readonly role: TurnRole; readonly results: boolean; readonly parts: TurnPart[] } | null = null;

  constructor(warn: Warn) {
    this.#warn = warn;
  }

  read(input: unknown): void {
    if (typeof input === "string") {
      this.#addMessage("user", [textPart(input)]);
      return;
    }
    if (!Array.isArray(input)) throw invalid("input", "must be a string or an array");
    arrayOf(input).forEach((item, index) => {
      if (!isObject(item)) throw invalid(`input[${index}]`, "must be an object");
      this.#readItem(item, `input[${index}]`);
    });
  }

  #readItem(item: JsonObject, param: string): void {
    const type = item["type"] ?? (item["role"] === undefined ? undefined : "message");
    if (typeof type !== "string") throw invalid(`${param}.type`, "must be a string");
    if (this.endsWithCompaction)
      throw invalid(param, "must not stand behind a compaction_trigger, which is the last item");
    switch (type) {
      case "message":
        this.#readMessage(item, param);
        return;
      case "function_call":
        this.#readCall(item, expectText(item["arguments"] ?? "", `${param}.arguments`), param);
        return;
      case "custom_tool_call":
        this.#readCall(item, customArguments(expectText(item["input"] ?? "", `${param}.input`)), param);
        return;
      case "function_call_output":
      case "custom_tool_call_output":
        this.#readResult(item, param);
        return;
      case "reasoning":
        this.#readReasoning(item);
        return;
      case "additional_tools":
        this.tools.push(...readTools(item["tools"], `${param}.tools`, this.#warn));
        return;
      case "compaction":
      case "compaction_summary":
        this.#readCompaction(item, type, param);
        return;
      case "compaction_trigger":
        this.endsWithCompaction = true;
        return;
      case "item_reference":
        throw unreadableItem(type, param);
      case "tool_search_call":
        this.#readSearch(item, param);
        return;
      case "tool_search_output":
        this.#readSearchOutput(item, param);
        return;
      default:
        this.#warn(`items of type ${quotableName(type)} are not understood by the upstream and were left out`);
    }
  }

  #readMessage(item: JsonObject, param: string): void {
    const parts = readContent(item["content"], `${param}.content`, this.#warn);
    switch (item["role"]) {
      case "user":
        this.#addMessage("user", parts);
        return;
      case "assistant":
        this.#appendParts("assistant", false, parts);
        return;
      case "system":
      case "developer":
        this.#addInstructions(parts);
        return;
      default:
        throw invalid(`${param}.role`, "must be user, assistant, system or developer");
    }
  }

  #addInstructions(parts: readonly ContentPart[]): void {
    const texts = parts.filter((part) => part.kind === "text");
    if (texts.length < parts.length) this.#warn("instructions may hold text only; other parts were left out");
    if (this.messages.length === 0) this.system.push(...texts);
    else this.#addMessage("system", texts);
  }

  #readCall(item: JsonObject, argumentsText: string, param: string): void {
    warnOfCaller(item, this.#warn);
    if (item["async"] === true) this.#warn("async of a call is not understood by the upstream and was left out");
    const id = expectText(item["call_id"] ?? item["id"], `${param}.call_id`);
    const ownName = expectText(item["name"], `${param}.name`);
    const namespace = textOf(item["namespace"]);
    const name = namespace === null || namespace === "" ? ownName : joinedName(namespace, ownName);
    this.#names.set(id, name);
    this.#appendParts("assistant", false, [
      { kind: "tool-call", id, name, argumentsText: argumentsOrEmpty(argumentsText), seal: null, cache: null },
    ]);
  }

  #readResult(item: JsonObject, param: string): void {
    warnOfCaller(item, this.#warn);
    const callId = expectText(item["call_id"], `${param}.call_id`);
    const parts = readContent(item["output"], `${param}.output`, this.#warn).map((part) =>
      part.kind === "refusal" ? textPart(part.text) : part,
    );
    const name = this.#names.get(callId) ?? textOf(item["name"]);
    this.#appendParts("user", true, [{ kind: "tool-result", callId, name, parts, isError: false, cache: null }]);
  }

  #readSearch(item: JsonObject, param: string): void {
    if (this.#isUpstreamSearch(item)) return;
    this.#readCall({ ...item, name: searchToolName }, searchArgumentsText(item["arguments"]), param);
  }

  /** The tools found are declared, and the model is given their names. */
  #readSearchOutput(item: JsonObject, param: string): void {
    const found = readTools(item["tools"], `${param}.tools`, this.#warn);
    this.tools.push(...found);
    if (this.#isUpstreamSearch(item)) return;
    const callId = expectText(item["call_id"], `${param}.call_id`);
    const parts = [textPart(foundToolsText(found))];
    const result = { kind: "tool-result", callId, name: searchToolName, parts, isError: false, cache: null } as const;
    this.#appendParts("user", true, [result]);
  }

  /** Of a search by OpenAI only the tools are kept. */
  #isUpstreamSearch(item: JsonObject): boolean {
    const isOfUpstream = item["execution"] === "server" || (item["call_id"] ?? null) === null;
    if (isOfUpstream) this.#warn("searches for tools that an upstream ran itself were left out, not what they found");
    return isOfUpstream;
  }

  #readReasoning(item: JsonObject): void {
    const sealed = textOf(item["encrypted_content"]);
    const read = sealed === null || sealed === "" ? null : readSealedContent(sealed, textOf(item["id"]));
    if (read?.note === "call") {
      this.#sealCall(read.seal);
      return;
    }
    const text = thoughtsOf(item);
    if (text === "" && read === null) {
      this.#warn("reasoning that only its upstream keeps was left out");
      return;
    }
    const part: ReasoningPart = {
      kind: "reasoning",
      text,
      seal: read?.seal ?? null,
      redacted: read?.note === "redacted",
    };
    this.#appendParts("assistant", false, [part]);
  }

  #readCompaction(item: JsonObject, type: string, param: string): void {
    const summary = readSummary(textOf(item["encrypted_content"]) ?? "");
    if (summary === null) throw unreadableItem(type, param);
    this.#addMessage("user", [textPart(summary)]);
  }

  /** The seal of the last call follows it as an item. */
  #sealCall(seal: Seal): void {
    const parts = this.#open?.role === "assistant" ? this.#open.parts : [];
    const at = parts.findLastIndex((part) => part.kind === "tool-call");
    const call = parts[at];
    if (call?.kind === "tool-call" && call.seal === null) parts[at] = { ...call, seal };
  }

  #addMessage(role: TurnRole, parts: readonly TurnPart[]): void {
    this.#open = null;
    if (parts.length > 0) this.messages.push({ role, parts });
  }

  #appendParts(role: TurnRole, results: boolean, parts: readonly TurnPart[]): void {
    if (parts.length === 0) return;
    if (this.#open?.role !== role || this.#open.results !== results) {
      this.#open = { role, results, parts: [] };
      this.messages.push({ role, parts: this.#open.parts });
    }
    this.#open.parts.push(...parts);
  }
}

function unreadableItem(type: string, param: string): Failure {
  return unsupported(param, `An item of type ${type} can only be read by the upstream that made it.`);
}

export type ContentPart = Extract<TurnPart, { kind: "text" | "refusal" }> | MediaPart;

function readContent(content: unknown, param: string, warn: Warn): ContentPart[] {
  if (typeof content === "string") return content === "" ? [] : [textPart(content)];
  if (content === undefined || content === null) return [];
  if (!Array.isArray(content)) throw invalid(param, "must be a string or an array of parts");
  return arrayOf(content).flatMap((part, index) => {
    if (!isObject(part)) throw invalid(`${param}[${index}]`, "must be an object");
    const read = readPart(part, `${param}[${index}]`);
    if (read !== null) return [read];
    warn(`content of type ${quotableName(part["type"])} is not understood and was left out`);
    return [];
  });
}

export function textPart(text: string, cache: TextPart["cache"] = null): TextPart {
  return { kind: "text", text, cache };
}

function readPart(part: JsonObject, param: string): ContentPart | null {
  switch (part["type"]) {
    case "input_text":
    case "output_text":
    case "text":
      return textPart(expectText(part["text"], `${param}.text`), readCacheHint(part));
    case "refusal":
      return { kind: "refusal", text: expectText(part["refusal"], `${param}.refusal`) };
    case "input_image":
      return readImage(part, param);
    case "input_file":
      return readFile(part, param);
    case "input_audio":
      return readAudio(part, param);
    default:
      return null;
  }
}

function readImage(part: JsonObject, param: string): MediaPart {
  const url = textOf(part["image_url"]) ?? textOf(objectOf(part["image_url"])["url"]);
  const detail = textOf(part["detail"]);
  return {
    kind: "image",
    source: readSource(url, textOf(part["file_id"]), `${param}.image_url`),
    name: null,
    // "auto" is the default.
    detail: detail === "auto" ? null : detail,
    cache: readCacheHint(part),
  };
}

function readFile(part: JsonObject, param: string): MediaPart {
  const name = textOf(part["filename"]);
  const data = textOf(part["file_data"]);
  const source: MediaSource =
    data === null
      ? readSource(textOf(part["file_url"]), textOf(part["file_id"]), `${param}.file_data`)
      : (readDataUri(data) ?? { kind: "base64", mediaType: mediaTypeOf(name), data });
  return { kind: kindOf(source), source, name, detail: null, cache: readCacheHint(part) };
}

function readAudio(part: JsonObject, param: string): MediaPart {
  const audio = objectOf(part["input_audio"]);
  const format = textOf(audio["format"]);
  return {
    kind: "audio",
    source: {
      kind: "base64",
      mediaType: format === "mp3" ? "audio/mpeg" : `audio/${format ?? "wav"}`,
      data: expectText(audio["data"], `${param}.input_audio.data`),
    },
    name: null,
    detail: null,
    cache: null,
  };
}

function readSource(url: string | null, fileId: string | null, param: string): MediaSource {
  if (url !== null) return readDataUri(url) ?? { kind: "url", url, mediaType: null };
  if (fileId !== null) return { kind: "file", id: fileId, dialect: "openai-responses" };
  throw invalid(param, "is missing");
}

function kindOf(source: MediaSource): "document" | "image" {
  return source.kind === "base64" && source.mediaType.startsWith("image/") ? "image" : "document";
}

/** Bare base64 has no media type; most files are PDFs. */
function mediaTypeOf(name: string | null): string {
  const ending = name?.slice(name.lastIndexOf(".") + 1).toLowerCase() ?? "";
  return mediaTypes.get(ending) ?? "application/pdf";
}

const mediaTypes: ReadonlyMap<string, string> = new Map([
  ["txt", "text/plain"],
  ["md", "text/markdown"],
  ["csv", "text/csv"],
  ["html", "text/html"],
  ["json", "application/json"],
  ["png", "image/png"],
  ["jpg", "image/jpeg"],
  ["jpeg", "image/jpeg"],
  ["webp", "image/webp"],
  ["gif", "image/gif"],
]);
