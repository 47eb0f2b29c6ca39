import type { AnswerEvent, BlockHead } from "#core/index.ts";
import type { AnswerSource, EventReader } from "../codec.ts";
import { brokenEvent } from "../errors/upstream-errors.ts";
import { countOf, isObject, type JsonObject, objectOf, parseObject, textOf } from "../json/value.ts";
import { plainName } from "../turn/tool-calls.ts";
import { warnOfStranger } from "../turn/warnings.ts";
import { converseStreamFailure } from "./error.ts";
import { converseSeal, readCitation, readFinish } from "./read-answer.ts";
import { readConverseUsage } from "./usage.ts";

interface OpenBlock {
  readonly index: number;
  readonly kind: BlockHead["kind"];
}

/**
 * Reads Converse events, `{"contentBlockDelta":{…}}` and its kin, as neutral ones. Blocks of text and of thoughts are
 * not announced: their first piece opens them.
 */
export class ConverseEventReader implements EventReader {
  readonly #emit: (event: AnswerEvent) => void;
  readonly #source: AnswerSource;
  #started = false;
  #over = false;
  #open: OpenBlock | null = null;
  /** Something of the open block was said that is not blank. */
  #spoken = false;
  /** The signature of the open thoughts, which may come in pieces. */
  #signature = "";
  #stopReason: unknown = null;

  constructor(emit: (event: AnswerEvent) => void, source: AnswerSource) {
    this.#emit = emit;
    this.#source = source;
  }

  read(data: string): void {
    if (this.#over) return;
    const event = parseObject(data);
    if (event === null) throw brokenEvent("is not a JSON object");
    const { contentBlockStart, contentBlockDelta, contentBlockStop, messageStop, metadata, error } = event;
    if (isObject(error)) {
      this.#over = true;
      this.#emit({ kind: "error", failure: converseStreamFailure(error) });
      return;
    }
    this.#start();
    if (isObject(contentBlockStart)) this.#announce(contentBlockStart);
    if (isObject(contentBlockDelta)) this.#piece(contentBlockDelta);
    if (isObject(contentBlockStop) && this.#open?.index === indexOf(contentBlockStop)) this.#close();
    if (isObject(messageStop)) this.#stopReason = messageStop["stopReason"];
    if (isObject(metadata)) {
      const reading = readConverseUsage(metadata["usage"]);
      if (reading !== null) this.#emit({ kind: "usage", usage: reading.usage });
    }
  }

  end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#start();
    this.#close();
    this.#emit({ kind: "finish", finish: readFinish(this.#stopReason) });
    this.#emit({ kind: "end" });
  }

  #start(): void {
    if (this.#started) return;
    this.#started = true;
    this.#emit({ kind: "start", id: null, model: null });
  }

  #announce(event: JsonObject): void {
    const start = objectOf(event["start"]);
    const { toolUse } = start;
    if (!isObject(toolUse)) {
      const [type] = Object.keys(start);
      if (type !== undefined) warnOfStranger("blocks", type, this.#source.warn);
      return;
    }
    const id = textOf(toolUse["toolUseId"]) ?? this.#source.newId("call_");
    this.#begin(indexOf(event), { kind: "tool-call", id, name: plainName(textOf(toolUse["name"]) ?? "") });
  }

  #piece(event: JsonObject): void {
    const index = indexOf(event);
    const delta = objectOf(event["delta"]);
    const { text, toolUse, reasoningContent, citation } = delta;
    if (typeof text === "string") this.#text(index, text);
    else if (isObject(reasoningContent)) this.#thought(index, reasoningContent);
    else if (isObject(toolUse)) this.#arguments(index, textOf(toolUse["input"]) ?? "");
    else if (isObject(citation)) this.#cite(index, citation);
    else warnOfStranger("pieces", Object.keys(delta)[0], this.#source.warn);
  }

  #cite(index: number, citation: JsonObject): void {
    const cited = readCitation(citation);
    if (cited === null) return;
    if (this.#open?.index === index && this.#open.kind === "text") {
      this.#emit({ kind: "block-citation", citation: cited });
    } else this.#source.warn("a citation without its text was left out");
  }

  #arguments(index: number, text: string): void {
    if (this.#open?.index !== index || this.#open.kind !== "tool-call") {
      throw brokenEvent("brings arguments of a call that is not open");
    }
    this.#say(text);
  }

  #text(index: number, text: string): void {
    if (text === "") return;
    if (this.#open?.index !== index || this.#open.kind !== "text") this.#begin(index, { kind: "text" });
    this.#say(text);
  }

  #thought(index: number, { text, signature, redactedContent }: JsonObject): void {
    const redacted = textOf(redactedContent);
    if (this.#open?.index !== index || this.#open.kind !== "reasoning") {
      this.#begin(index, { kind: "reasoning", redacted: redacted !== null });
    }
    this.#say(textOf(text) ?? "");
    this.#signature += redacted ?? textOf(signature) ?? "";
  }

  #begin(index: number, block: BlockHead): void {
    this.#close();
    this.#open = { index, kind: block.kind };
    this.#spoken = false;
    this.#emit({ kind: "block-start", block });
  }

  #say(text: string): void {
    if (text === "") return;
    this.#spoken ||= text.trim() !== "";
    this.#emit({ kind: "block-delta", text });
  }

  #close(): void {
    if (this.#open === null) return;
    if (this.#open.kind === "tool-call" && !this.#spoken) this.#say("{}");
    if (this.#signature !== "") {
      this.#emit({ kind: "block-seal", seal: converseSeal(this.#signature, this.#source.account) });
    }
    this.#signature = "";
    this.#open = null;
    this.#emit({ kind: "block-end" });
  }
}

function indexOf(event: JsonObject): number {
  return countOf(event["contentBlockIndex"]) ?? 0;
}
