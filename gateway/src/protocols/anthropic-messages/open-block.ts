import type { AnswerEvent, BlockHead } from "#core/index.ts";
import type { AnswerSource } from "../codec.ts";
import { type JsonObject, objectOf, textOf } from "../json/value.ts";
import { HeldCitations } from "../turn/citations.ts";
import { plainName } from "../turn/tool-calls.ts";
import { warnOfStranger } from "../turn/warnings.ts";
import { sealOf, warnOfBlock } from "./read-answer.ts";
import { readCitation, readCitations } from "./read-citations.ts";

type Emit = (event: AnswerEvent) => void;

/** One content block of a stream between its start and its stop. What comes before it is opened waits in it. */
export class OpenBlock {
  readonly index: number;
  stopped = false;

  readonly #source: AnswerSource;
  /** null for the blocks of server tools, which are passed over. */
  readonly #head: BlockHead | null;
  readonly #input: string;
  #opened = false;
  #waiting: string[] = [];
  #spoken = false;
  #signature: string;
  readonly #citations: HeldCitations;

  constructor(index: number, content: JsonObject, source: AnswerSource) {
    this.index = index;
    this.#source = source;
    this.#citations = new HeldCitations(source.warn);
    for (const citation of readCitations(content["citations"], source.warn)) this.#citations.add(citation);
    this.#head = headOf(content, source);
    warnOfBlock(content, source.warn);
    this.#signature = textOf(content["signature"] ?? content["data"]) ?? "";
    const early = textOf(content["text"] ?? content["thinking"]) ?? "";
    if (early !== "") this.#waiting.push(early);
    this.#input = JSON.stringify(objectOf(content["input"]));
  }

  open(emit: Emit): void {
    if (this.#head === null || this.#opened) return;
    this.#opened = true;
    emit({ kind: "block-start", block: this.#head });
    if (this.#waiting.length > 0) this.#speak(this.#waiting.join(""), emit);
    this.#waiting = [];
  }

  /** Takes a delta; returns the size of what has to wait. */
  add(delta: JsonObject, emit: Emit): number {
    if (this.#head === null) return 0;
    if (delta["type"] === "citations_delta") {
      const citation = readCitation(objectOf(delta["citation"]), this.#source.warn);
      if (citation !== null) this.#citations.add(citation);
      return 0;
    }
    if (delta["type"] === "signature_delta") {
      this.#signature += textOf(delta["signature"]) ?? "";
      return 0;
    }
    const text = textOf(delta["text"] ?? delta["partial_json"] ?? delta["thinking"]) ?? "";
    if (!texts.has(delta["type"])) warnOfStranger("pieces", delta["type"], this.#source.warn);
    if (text === "") return 0;
    if (this.#opened) {
      this.#speak(text, emit);
      return 0;
    }
    this.#waiting.push(text);
    return text.length;
  }

  close(emit: Emit): void {
    const head = this.#head;
    if (head === null) return;
    // Some imitations give a call's whole input at its start; a call without arguments has one empty delta, or none.
    if (!this.#spoken && head.kind === "tool-call") this.#speak(this.#input, emit);
    if (head.kind === "reasoning" && this.#signature !== "") {
      emit({ kind: "block-seal", seal: sealOf(this.#signature, this.#source) });
    }
    if (head.kind === "text") {
      for (const citation of this.#citations.take()) emit({ kind: "block-citation", citation });
    }
    emit({ kind: "block-end" });
  }

  #speak(text: string, emit: Emit): void {
    this.#spoken ||= text.trim() !== "";
    emit({ kind: "block-delta", text });
  }
}

const texts: ReadonlySet<unknown> = new Set(["text_delta", "input_json_delta", "thinking_delta"]);

function headOf(content: JsonObject, source: AnswerSource): BlockHead | null {
  switch (content["type"]) {
    case "text":
      return { kind: "text" };
    case "thinking":
      return { kind: "reasoning", redacted: false };
    case "redacted_thinking":
      return { kind: "reasoning", redacted: true };
    case "tool_use": {
      const name = plainName(textOf(content["name"]) ?? "");
      return { kind: "tool-call", id: textOf(content["id"]) ?? source.newId("toolu_"), name };
    }
    default:
      warnOfStranger("blocks", content["type"], source.warn);
      return null;
  }
}
