import type { Answer, Finish, FinishReason, MediaSource } from "#core/index.ts";
import type { AnswerSource } from "../codec.ts";
import { invalidReply, unsupportedReply } from "../errors/upstream-errors.ts";
import { arrayOf, isObject, type JsonObject, objectOf, parseFirst, textOf } from "../json/value.ts";
import { AnswerReader, collectAnswer } from "../turn/answer-events.ts";
import { warnOfUnknownType, warnOfUnreadMembers } from "../turn/warnings.ts";
import { codeText, readToolName } from "./encodings.ts";
import { geminiFailure } from "./error.ts";
import { readGrounding } from "./grounding.ts";
import { readGeminiUsage } from "./usage.ts";

/** Source: @google/genai, FinishReason. */
const finishReasons: Readonly<Record<string, FinishReason>> = {
  STOP: "stop",
  MAX_TOKENS: "length",
  // The rest could only be requested with Google's own token.
  CONTINUATION: "length",
  SAFETY: "content-filter",
  RECITATION: "content-filter",
  BLOCKLIST: "content-filter",
  PROHIBITED_CONTENT: "content-filter",
  SPII: "content-filter",
  IMAGE_SAFETY: "content-filter",
  IMAGE_PROHIBITED_CONTENT: "content-filter",
  IMAGE_RECITATION: "content-filter",
  IMAGE_OTHER: "content-filter",
};

/** Gemini also reports STOP for calls. Unknown reasons count as errors. */
export function readFinish(reason: string, hasCalls: boolean): Finish {
  const meaning = finishReasons[reason] ?? "error";
  return { reason: meaning === "stop" && hasCalls ? "tool-calls" : meaning, stopSequence: null };
}

const blockedFinish: Finish = Object.freeze({ reason: "content-filter", stopSequence: null });

export function isFinishReason(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value !== "FINISH_REASON_UNSPECIFIED";
}

/** Null if the prompt was not blocked. */
export function blockReasonOf(promptFeedback: unknown): string | null {
  const reason = objectOf(promptFeedback)["blockReason"];
  return typeof reason === "string" && reason !== "" && reason !== "BLOCK_REASON_UNSPECIFIED" ? reason : null;
}

export function finishReasonOf(finish: Finish): string {
  switch (finish.reason) {
    case "length":
    case "context-length":
      return "MAX_TOKENS";
    case "content-filter":
    case "refusal":
      return "SAFETY";
    case "error":
      return "OTHER";
    default:
      return "STOP";
  }
}

/** Reads the GenerateContentResponse of a whole answer or the events of a stream. */
export class GeminiEventReader extends AnswerReader {
  #open: "text" | "reasoning" | "tool-call" | null = null;
  /** Signatures of the open text, emitted as empty reasoning blocks after it. */
  #signatures: string[] = [];
  #hasCalls = false;
  #finishReason: string | null = null;
  #blocked = false;
  /** Usage to emit: after the first event, for the size of the prompt, and at the end. */
  #usage: unknown = null;
  #usageEmitted = false;
  #responses = 0;
  /** The open text, in which sources are counted, and the offsets of its parts. A stream counts as one part. */
  #texts: string[] = [];
  #textLength = 0;
  #partStarts: number[] = [];
  #grounding: JsonObject = {};
  #citation: JsonObject = {};

  read(data: string): void {
    if (!this.ended) this.take(parseResponse(data));
  }

  take(response: JsonObject): void {
    const error = response["error"];
    if (error !== undefined && error !== null) {
      this.fail(geminiFailure(error));
      return;
    }
    this.emitStart(textOf(response["responseId"]), textOf(response["modelVersion"]));
    warnOfUnreadMembers(response, responseMembers, "the answer", this.source.warn);
    if (isObject(response["usageMetadata"])) this.#usage = response["usageMetadata"];
    if (!this.#usageEmitted) this.#emitUsage();
    if (blockReasonOf(response["promptFeedback"]) !== null) this.#blocked = true;
    const candidate = objectOf(arrayOf(response["candidates"])[0]);
    this.#responses++;
    warnOfUnreadMembers(candidate, candidateMembers, "a candidate", this.source.warn);
    this.#partStarts = [];
    for (const part of arrayOf(objectOf(candidate["content"])["parts"])) this.#part(objectOf(part));
    this.#storeSources(candidate);
    if (isFinishReason(candidate["finishReason"])) this.#finishReason = candidate["finishReason"];
  }

  end(): void {
    if (this.ended) return;
    this.emitStart();
    this.#cite();
    this.#close();
    this.#emitUsage();
    const isBlocked = this.#finishReason === null && this.#blocked;
    this.finish(isBlocked ? blockedFinish : readFinish(this.#finishReason ?? "STOP", this.#hasCalls));
  }

  #emitUsage(): void {
    const reading = this.#usage === null ? null : readGeminiUsage(this.#usage);
    this.#usage = null;
    if (reading === null) return;
    this.#usageEmitted = true;
    this.emit({ kind: "usage", usage: reading.usage });
  }

  /** Reported once the text is complete; later reports replace earlier ones. */
  #storeSources({ groundingMetadata, citationMetadata }: JsonObject): void {
    if (isObject(groundingMetadata)) this.#grounding = groundingMetadata;
    if (isObject(citationMetadata)) this.#citation = citationMetadata;
  }

  #cite(): void {
    const { warn } = this.source;
    const partStarts = this.#responses > 1 ? [] : this.#partStarts;
    const citations = readGrounding(this.#grounding, this.#citation, this.#texts.join(""), partStarts, warn);
    if (citations.length === 0) return;
    if (this.#open !== "text") warn("citations of a text that was not the last were dropped");
    else for (const citation of citations) this.emit({ kind: "block-citation", citation });
  }

  #part(part: JsonObject): void {
    this.#partStarts.push(this.#textLength);
    const signature = textOf(part["thoughtSignature"]);
    const text = textOf(part["text"]) ?? codeText(part);
    if (isObject(part["functionCall"])) this.#call(part["functionCall"]);
    else if (text !== null && text !== "") this.#text(text, part["thought"] === true);
    // Pictures in thoughts are drafts.
    else if (part["thought"] !== true && !this.#media(part)) this.#warnOfPart(part);
    if (signature !== null && signature !== "") this.#addSignature(signature);
  }

  #text(text: string, thought: boolean): void {
    const kind = thought ? "reasoning" : "text";
    if (this.#open !== kind) {
      this.#close();
      this.emit({ kind: "block-start", block: thought ? { kind: "reasoning", redacted: false } : { kind: "text" } });
      this.#open = kind;
      this.#texts = [];
      this.#textLength = 0;
    }
    if (!thought) {
      this.#texts.push(text);
      this.#textLength += text.length;
    }
    this.emit({ kind: "block-delta", text });
  }

  /** A call without a signature stays open, since an empty part may follow with it. */
  #call(call: JsonObject): void {
    const name = textOf(call["name"]);
    if (name === null || name === "") throw invalidReply("has a function call without a name");
    this.#close();
    const id = textOf(call["id"]) || this.source.newId("call_");
    this.emit({ kind: "block-start", block: { kind: "tool-call", id, name: readToolName(name) } });
    this.emit({ kind: "block-delta", text: JSON.stringify(objectOf(call["args"])) });
    this.#open = "tool-call";
    this.#hasCalls = true;
  }

  #warnOfPart(part: JsonObject): void {
    const type = Object.keys(part).find((name) => !partMembers.has(name));
    if (type !== undefined) warnOfUnknownType("parts", type, this.source.warn);
  }

  #media(part: JsonObject): boolean {
    const { inlineData, fileData } = part;
    const inline = objectOf(inlineData);
    const mediaType = textOf(inline["mimeType"]) ?? textOf(objectOf(fileData)["mimeType"]) ?? "";
    if (inlineData === undefined && fileData === undefined) return false;
    if (!mediaType.startsWith("image/"))
      throw unsupportedReply(`The upstream's answer holds ${mediaType || "data"}, which cannot be carried.`);
    this.#close();
    const data = textOf(inline["data"]);
    const url = textOf(objectOf(fileData)["fileUri"]) ?? "";
    const source: MediaSource = data === null ? { kind: "url", url, mediaType } : { kind: "base64", mediaType, data };
    this.emit({ kind: "block-start", block: { kind: "image", source } });
    this.emit({ kind: "block-end" });
    return true;
  }

  /** Seals the open thought or call; signatures of text follow it. */
  #addSignature(signature: string): void {
    if (this.#open === "text") {
      this.#signatures.push(signature);
      return;
    }
    if (this.#open === null) {
      this.emit({ kind: "block-start", block: { kind: "reasoning", redacted: false } });
      this.#open = "reasoning";
    }
    const { account } = this.source;
    this.emit({ kind: "block-seal", seal: { dialect: "gemini", account, data: signature, itemId: null } });
    this.#close();
  }

  #close(): void {
    if (this.#open === null) return;
    this.#open = null;
    this.emit({ kind: "block-end" });
    const signatures = this.#signatures;
    if (signatures.length === 0) return;
    this.#signatures = [];
    for (const signature of signatures) this.#addSignature(signature);
  }
}

const responseMembers: ReadonlySet<string> = new Set([
  ...["candidates", "usageMetadata", "promptFeedback", "error", "modelVersion", "responseId"],
  ...["createTime", "modelStatus", "sdkHttpResponse"],
]);
const candidateMembers: ReadonlySet<string> = new Set([
  ...["content", "finishReason", "index", "groundingMetadata", "citationMetadata", "safetyRatings"],
  ...["tokenCount", "avgLogprobs", "groundingAttributions"],
]);
const partMembers: ReadonlySet<string> = new Set(["text", "thought", "thoughtSignature"]);

/** The response, or the first of an array. Throws Failure upstream_error. */
export function parseResponse(data: string | Uint8Array): JsonObject {
  const response = parseFirst(data);
  if (response === null) throw invalidReply("is not a JSON object");
  return response;
}

/** Reads a whole answer as a stream of one event. */
export function readGeminiAnswer(body: Uint8Array, source: AnswerSource): Answer {
  const response = parseResponse(body);
  const { candidates, promptFeedback, error } = response;
  if (arrayOf(candidates).length === 0 && promptFeedback === undefined && error === undefined) {
    throw invalidReply("has no candidates");
  }
  return collectAnswer(source, (emit) => {
    const reader = new GeminiEventReader(emit, source);
    reader.take(response);
    reader.end();
  });
}
