import type { MediaPart, Seal, TextPart, TurnMessage, TurnPart, TurnRole } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { codeText } from "../gemini/encodings.ts";
import { arrayOf, invalid, isObject, type JsonObject, missingParam, objectOf, textOf } from "../json/value.ts";
import { textPart } from "../turn/parts.ts";
import { notSupported, quotableName, warnOfUnsentMembers } from "../turn/warnings.ts";
import { contentTypes, readContent } from "./contents.ts";
import { readStepSignature } from "./signatures.ts";

/** Reads an input: a text, a content, or a list of contents and steps. Throws Failure invalid_request. */
export function readInput(input: unknown, warn: Warn): readonly TurnMessage[] {
  if (input === undefined || input === null) throw missingParam("input");
  if (typeof input === "string") return input === "" ? [] : [{ role: "user", parts: [textPart(input)] }];
  if (!Array.isArray(input) && !isObject(input)) throw invalid("input", "must be a string, an object or an array");
  const reader = new StepReader(warn);
  for (const item of Array.isArray(input) ? input : [input]) reader.read(item);
  return reader.messages;
}

/** Steps of one side become one message. */
class StepReader {
  readonly #messages: { readonly role: TurnRole; readonly parts: TurnPart[] }[] = [];
  readonly #warn: Warn;

  constructor(warn: Warn) {
    this.#warn = warn;
  }

  get messages(): readonly TurnMessage[] {
    return this.#messages;
  }

  read(item: unknown): void {
    if (!isObject(item)) throw invalid("input", "must contain objects with a type");
    const type = textOf(item["type"]) ?? "";
    if (contentTypes.has(type)) this.#add("user", readContent(item, this.#warn));
    else this.#step(item, type);
  }

  #add(role: TurnRole, part: TurnPart | null): void {
    if (part === null) return;
    const last = this.#messages.at(-1);
    if (last?.role === role) last.parts.push(part);
    else this.#messages.push({ role, parts: [part] });
  }

  #step(step: JsonObject, type: string): void {
    const members = stepMembers[type];
    if (members !== undefined)
      warnOfUnsentMembers(step, new Set(["type", ...members]), `a step of type ${type}`, this.#warn);
    switch (type) {
      case "user_input":
        for (const part of this.#contents(step["content"])) this.#add("user", part);
        break;
      case "model_output":
        for (const part of this.#contents(step["content"])) this.#add("assistant", part);
        break;
      case "thought":
        this.#thought(step);
        break;
      case "function_call":
        this.#call(step);
        break;
      case "function_result":
        this.#result(step);
        break;
      case "code_execution_call":
        this.#code(codeText({ executableCode: step["arguments"] }));
        break;
      case "code_execution_result":
        this.#codeResult(step["result"]);
        break;
      default:
        if (!/_(?:call|result)$/.test(type))
          throw invalid("input", `has an item of the unknown type ${quotableName(type)}`);
        this.#warn(notSupported(`a step of type ${quotableName(type)}`));
    }
  }

  #contents(value: unknown): readonly (TextPart | MediaPart)[] {
    if (value !== undefined && value !== null && !Array.isArray(value))
      throw invalid("input", "has a content that is no array");
    return arrayOf(value).flatMap((content) => readContent(content, this.#warn) ?? []);
  }

  #thought({ signature, summary }: JsonObject): void {
    const texts = arrayOf(summary).flatMap((content) => textOf(objectOf(content)["text"]) ?? []);
    const read = textOf(signature) ? readStepSignature(textOf(signature) ?? "") : null;
    // Summaries that we streamed come back in the pieces in which they were sent.
    const text = texts.join(read === null || read.seal.dialect === "gemini-interactions" ? "\n\n" : "");
    if (text === "" && (read === null || this.#sealCall(read.seal))) return;
    this.#add("assistant", { kind: "reasoning", text, seal: read?.seal ?? null, redacted: read?.redacted ?? false });
  }

  /** Only calls of generateContent are sealed. Their seal follows in a thought without a summary. */
  #sealCall(seal: Seal): boolean {
    const last = this.#messages.at(-1);
    const call = last?.parts.at(-1);
    if (last === undefined || call?.kind !== "tool-call" || call.seal !== null || seal.dialect !== "gemini")
      return false;
    last.parts[last.parts.length - 1] = { ...call, seal };
    return true;
  }

  #call(step: JsonObject): void {
    const name = textOf(step["name"]);
    const id = textOf(step["id"]);
    if (name === null || name === "") throw invalid("input", "has a function_call without a name");
    if (id === null || id === "") throw invalid("input", "has a function_call without an id");
    const argumentsText = JSON.stringify(objectOf(step["arguments"]));
    this.#add("assistant", { kind: "tool-call", id, name, argumentsText, seal: null, cache: null });
  }

  #result(step: JsonObject): void {
    const callId = textOf(step["call_id"]);
    if (callId === null || callId === "") throw invalid("input", "has a function_result without a call_id");
    const { result } = step;
    // An object is the caller's own result.
    const parts = Array.isArray(result) ? this.#contents(result) : [textPart(resultText(result))];
    const isError = step["is_error"] === true;
    this.#add("user", { kind: "tool-result", callId, name: textOf(step["name"]), parts, isError, cache: null });
  }

  #codeResult(result: unknown): void {
    if (arrayOf(result).some((content) => objectOf(content)["type"] !== "text")) {
      this.#warn(notSupported("media in the output of code"));
    }
    this.#code(codeText({ codeExecutionResult: { output: resultText(result) } }));
  }

  #code(text: string | null): void {
    if (text !== null) this.#add("assistant", textPart(text));
  }
}

const stepMembers: Readonly<Record<string, readonly string[]>> = {
  user_input: ["content"],
  model_output: ["content"],
  thought: ["signature", "summary"],
  function_call: ["id", "name", "arguments"],
  function_result: ["call_id", "name", "result", "is_error"],
};

function resultText(result: unknown): string {
  if (typeof result === "string") return result;
  if (Array.isArray(result)) return result.map((content) => textOf(objectOf(content)["text"]) ?? "").join("\n");
  return result === undefined || result === null ? "" : JSON.stringify(result);
}
