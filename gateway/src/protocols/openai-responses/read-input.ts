import type { Failure, ReasoningPart, Seal, TextPart, TurnMessage, TurnPart, TurnRole, TurnTool } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { arrayOf, expectText, invalid, isObject, type JsonObject, textOf, unsupported } from "../json/value.ts";
import { customArguments } from "../openai-chat/custom-tool.ts";
import { type ContentPart, readContentParts } from "../openai-chat/read-parts.ts";
import { textPart } from "../turn/parts.ts";
import { argumentsOrEmpty } from "../turn/tool-calls.ts";
import { notSupported, quotableName, warnOfCaller } from "../turn/warnings.ts";
import { readSummary } from "./compaction.ts";
import { thoughtsOf } from "./item-readers.ts";
import { readSealedContent } from "./output-items.ts";
import { readTools } from "./read-tools.ts";
import { foundToolsText, joinedName, searchToolName } from "./tool-kinds.ts";

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
    if (this.endsWithCompaction) throw invalid(param, "must not follow a compaction_trigger, which is the last item");
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
        this.#warn(`items of type ${quotableName(type)} are not supported by the upstream and were dropped`);
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

  #addInstructions(parts: readonly TurnPart[]): void {
    const texts = parts.filter((part) => part.kind === "text");
    if (texts.length < parts.length) this.#warn("parts other than text were dropped from instructions");
    if (this.messages.length === 0) this.system.push(...texts);
    else this.#addMessage("system", texts);
  }

  #readCall(item: JsonObject, argumentsText: string, param: string): void {
    warnOfCaller(item, this.#warn);
    if (item["async"] === true) this.#warn(notSupported("async of a call"));
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
    const rawArguments = item["arguments"] ?? {};
    const argumentsText = typeof rawArguments === "string" ? rawArguments : JSON.stringify(rawArguments);
    this.#readCall({ ...item, name: searchToolName }, argumentsText, param);
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

  /** Only the tools of a search by OpenAI are kept. */
  #isUpstreamSearch(item: JsonObject): boolean {
    const isOfUpstream = item["execution"] === "server" || (item["call_id"] ?? null) === null;
    if (isOfUpstream) this.#warn("tool searches by an upstream were dropped; the tools they found were kept");
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
      this.#warn("reasoning stored at another upstream was dropped");
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

function readContent(content: unknown, param: string, warn: Warn): Exclude<ContentPart, ReasoningPart>[] {
  const drop = (type: unknown): void => warn(`content of type ${quotableName(type)} is not supported and was dropped`);
  return readContentParts(content, param, "openai-responses", drop).filter((part) => {
    if (part.kind === "reasoning") drop("thinking");
    return part.kind !== "reasoning";
  });
}
