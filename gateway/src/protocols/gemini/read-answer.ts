import {
  type Answer,
  type AnswerBlock,
  type AnswerEvent,
  type Citation,
  Failure,
  type Seal,
  type Usage,
} from "#core/index.ts";
import type { AnswerSource } from "../codec.ts";
import type { JsonObject } from "../json/value.ts";
import { blockedFinish } from "./finish.ts";
import { GeminiEventReader, parseResponse } from "./read-events.ts";

/** A whole answer is a stream of one event: the same reader reads it, and its events are gathered into blocks. */
export function readGeminiAnswer(body: Uint8Array, source: AnswerSource): Answer {
  const response = parseResponse(decoder.decode(body));
  requireAnswer(response);
  const gathering = new Gathering();
  const reader = new GeminiEventReader((event) => gathering.add(event), source);
  reader.take(response);
  reader.end();
  return gathering.answer;
}

/** Neither candidates nor the reason why there are none: there is nothing to make an answer of. */
function requireAnswer(response: JsonObject): void {
  const { candidates, promptFeedback, error } = response;
  if ((Array.isArray(candidates) && candidates.length > 0) || promptFeedback !== undefined || error !== undefined)
    return;
  throw new Failure("upstream_error", "The upstream's answer has no candidates.", { retry: "other", unhealthy: true });
}

class Gathering {
  #answer: Answer = { id: null, model: null, blocks: [], finish: blockedFinish, usage: null };
  readonly #blocks: AnswerBlock[] = [];
  #pieces: string[] = [];
  #citations: Citation[] = [];
  #seal: Seal | null = null;
  #head: Extract<AnswerEvent, { kind: "block-start" }>["block"] | null = null;

  get answer(): Answer {
    return { ...this.#answer, blocks: this.#blocks };
  }

  add(event: AnswerEvent): void {
    switch (event.kind) {
      case "start":
        this.#answer = { ...this.#answer, id: event.id, model: event.model };
        return;
      case "block-start":
        this.#head = event.block;
        return;
      case "block-delta":
        this.#pieces.push(event.text);
        return;
      case "block-citation":
        this.#citations.push(event.citation);
        return;
      case "block-seal":
        this.#seal = event.seal;
        return;
      case "block-end":
        this.#endBlock();
        return;
      case "usage":
        this.#answer = { ...this.#answer, usage: event.usage satisfies Usage };
        return;
      case "finish":
        this.#answer = { ...this.#answer, finish: event.finish };
        return;
      case "error":
        throw event.failure;
      case "end":
        return;
    }
  }

  #endBlock(): void {
    const head = this.#head;
    const text = this.#pieces.join("");
    const seal = this.#seal;
    const citations = this.#citations;
    this.#pieces = [];
    this.#citations = [];
    this.#seal = null;
    if (head === null) return;
    if (head.kind === "tool-call") this.#blocks.push({ ...head, argumentsText: text, seal });
    else if (head.kind === "reasoning") this.#blocks.push({ ...head, text, seal });
    else if (head.kind === "image") this.#blocks.push(head);
    else if (head.kind === "text" && citations.length > 0) this.#blocks.push({ kind: "text", text, citations });
    else this.#blocks.push({ kind: head.kind, text });
  }
}

const decoder = new TextDecoder();
