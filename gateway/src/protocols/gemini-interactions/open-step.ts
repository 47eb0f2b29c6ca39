import type { AnswerEvent, BlockHead, MediaSource } from "#core/index.ts";
import type { AnswerSource } from "../codec.ts";
import { invalidEvent, unsupportedReply } from "../errors/upstream-errors.ts";
import { codeText, readToolName } from "../gemini/encodings.ts";
import { arrayOf, isObject, type JsonObject, objectOf, textOf } from "../json/value.ts";
import { warnOfUnknownType, warnOfUnreadMembers } from "../turn/warnings.ts";
import { readAnnotations } from "./annotations.ts";

/** A step of an answer. Its events wait until the steps before it have ended. */
export class OpenStep {
  readonly index: number;
  stopped = false;
  readonly #emit: (event: AnswerEvent) => void;
  readonly #source: AnswerSource;
  /** null: events are emitted at once. */
  #waiting: AnswerEvent[] | null = [];
  #type = "";
  /** The open block. */
  #block: BlockHead["kind"] | null = null;
  /** The open text, in which annotations are counted. */
  #text: string[] = [];
  #annotations: unknown[] = [];
  #signature: string | null = null;
  /** Arguments of a call, sent whole at its start or its end. */
  #arguments: JsonObject = {};
  #hasArguments = false;

  constructor(index: number, emit: (event: AnswerEvent) => void, source: AnswerSource) {
    this.index = index;
    this.#emit = emit;
    this.#source = source;
  }

  open(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    for (const event of waiting) this.#emit(event);
  }

  start(step: JsonObject): void {
    const { warn } = this.#source;
    this.#type = textOf(step["type"]) ?? "";
    switch (this.#type) {
      case "model_output":
        warnOfUnreadMembers(step, outputMembers, "a step", warn);
        for (const content of arrayOf(step["content"])) this.#content(objectOf(content));
        break;
      case "thought":
        warnOfUnreadMembers(step, thoughtMembers, "a thought", warn);
        this.#signature = textOf(step["signature"]);
        for (const content of arrayOf(step["summary"])) this.#thought(objectOf(content));
        break;
      case "function_call":
        warnOfUnreadMembers(step, callMembers, "a call", warn);
        this.#call(step);
        break;
      case "code_execution_call":
        this.#code(codeText({ executableCode: step["arguments"] }));
        break;
      case "code_execution_result":
        this.#code(codeText({ codeExecutionResult: { output: outputOf(step["result"]) } }));
        break;
      default:
        // Citations show what was searched.
        if (!searchSteps.has(this.#type)) warnOfUnknownType("steps", this.#type, warn);
    }
  }

  add(delta: JsonObject): void {
    switch (delta["type"]) {
      case "text":
        this.#write("text", textOf(delta["text"]) ?? "");
        break;
      case "text_annotation_delta":
        this.#annotations.push(...arrayOf(delta["annotations"]));
        break;
      case "thought_summary":
        this.#thought(objectOf(delta["content"]));
        break;
      case "thought_signature":
        this.#signature = textOf(delta["signature"]) ?? this.#signature;
        break;
      case "arguments_delta":
        if (this.#type !== "function_call") {
          warnOfUnknownType("pieces", this.#type, this.#source.warn);
          break;
        }
        this.#hasArguments ||= (textOf(delta["arguments"]) ?? "").trim() !== "";
        this.#write("tool-call", textOf(delta["arguments"]) ?? "");
        break;
      case "image":
      case "audio":
      case "video":
      case "document":
        this.#media(delta);
        break;
      case "code_execution_call":
        this.#code(codeText({ executableCode: delta["arguments"] }));
        break;
      case "code_execution_result":
        this.#code(codeText({ codeExecutionResult: { output: outputOf(delta["result"]) } }));
        break;
      default:
        if (!searchSteps.has(textOf(delta["type"]) ?? ""))
          warnOfUnknownType("pieces", delta["type"], this.#source.warn);
    }
  }

  close(): void {
    if (this.#type === "function_call" && !this.#hasArguments) {
      this.#out({ kind: "block-delta", text: JSON.stringify(this.#arguments) });
    }
    if (this.#signature !== null && this.#signature !== "") this.#seal(this.#signature);
    this.#endBlock();
  }

  #content(content: JsonObject): void {
    if (content["type"] !== "text") {
      this.#media(content);
      return;
    }
    warnOfUnreadMembers(content, textMembers, "a text", this.#source.warn);
    // Annotations count from the start of their text.
    this.#endBlock();
    this.#write("text", textOf(content["text"]) ?? "");
    this.#annotations.push(...arrayOf(content["annotations"]));
    this.#endBlock();
  }

  /** Pictures in thoughts are drafts. */
  #thought(content: JsonObject): void {
    if (content["type"] === "text") this.#write("reasoning", textOf(content["text"]) ?? "");
    else if (content["type"] !== "image") warnOfUnknownType("thoughts", content["type"], this.#source.warn);
  }

  #call(step: JsonObject): void {
    const name = textOf(step["name"]);
    if (name === null || name === "") throw invalidEvent("has a function call without a name");
    const id = textOf(step["id"]) || this.#source.newId("call_");
    this.#begin({ kind: "tool-call", id, name: readToolName(name) });
    this.#arguments = objectOf(step["arguments"]);
    this.#signature = textOf(step["signature"]);
  }

  #code(text: string | null): void {
    if (text !== null) this.#write("text", text);
  }

  #media(content: JsonObject): void {
    const { type } = content;
    if (type !== "image") {
      const what = typeof type === "string" ? type : "data";
      throw unsupportedReply(`The upstream's answer holds ${what}, which cannot be carried.`);
    }
    warnOfUnreadMembers(content, imageMembers, "a picture", this.#source.warn);
    const mediaType = textOf(content["mime_type"]) ?? "image/png";
    const data = textOf(content["data"]);
    const url = textOf(content["uri"]) ?? "";
    const source: MediaSource = data === null ? { kind: "url", url, mediaType } : { kind: "base64", mediaType, data };
    this.#begin({ kind: "image", source });
    this.#endBlock();
  }

  #write(kind: "text" | "reasoning" | "tool-call", text: string): void {
    if (text === "") return;
    if (this.#block !== kind && kind !== "tool-call") {
      this.#begin(kind === "text" ? { kind } : { kind, redacted: false });
    }
    if (kind === "text") this.#text.push(text);
    this.#out({ kind: "block-delta", text });
  }

  #begin(block: BlockHead): void {
    this.#endBlock();
    this.#block = block.kind;
    this.#out({ kind: "block-start", block });
  }

  /** A signature of a text follows it in a block without text. */
  #seal(data: string): void {
    this.#signature = null;
    if (this.#block !== "reasoning" && this.#block !== "tool-call") this.#begin({ kind: "reasoning", redacted: false });
    const { account } = this.#source;
    this.#out({ kind: "block-seal", seal: { dialect: "gemini-interactions", account, data, itemId: null } });
  }

  #endBlock(): void {
    const annotations = this.#annotations;
    this.#annotations = [];
    if (annotations.length > 0 && this.#block !== "text") this.#source.warn("citations without a text were dropped");
    if (this.#block === null) return;
    if (this.#block === "text" && annotations.length > 0) {
      for (const citation of readAnnotations(annotations, this.#text.join(""), this.#source.warn)) {
        this.#out({ kind: "block-citation", citation });
      }
    }
    this.#text = [];
    this.#block = null;
    this.#out({ kind: "block-end" });
  }

  #out(event: AnswerEvent): void {
    if (this.#waiting === null) this.#emit(event);
    else this.#waiting.push(event);
  }
}

const outputMembers: ReadonlySet<string> = new Set(["type", "content", "error"]);
const thoughtMembers: ReadonlySet<string> = new Set(["type", "signature", "summary"]);
const callMembers: ReadonlySet<string> = new Set(["type", "id", "name", "arguments", "signature"]);
const textMembers: ReadonlySet<string> = new Set(["type", "text", "annotations"]);
const imageMembers: ReadonlySet<string> = new Set(["type", "data", "uri", "mime_type"]);
const searchSteps: ReadonlySet<string> = new Set(["google_search_call", "google_search_result"]);

function outputOf(result: unknown): string {
  if (typeof result === "string") return result;
  return arrayOf(result)
    .filter(isObject)
    .flatMap(({ text }) => textOf(text) ?? [])
    .join("");
}
