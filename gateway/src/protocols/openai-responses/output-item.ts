import type { BlockHead, Citation, Seal } from "#core/index.ts";
import { bareSeal, readSealText, sealFrom, sealMark, sealText } from "../turn/seal-text.ts";
import { sealSummary } from "./compaction.ts";

export type ItemStatus = "completed" | "incomplete";

/** Where an item stands in the stream. */
export interface ItemPlace {
  readonly lines: NumberedEvents;
  readonly index: number;
  readonly id: string;
}

/** One output item as it is written: each method gives the events that it causes. */
export interface OutputItem {
  /** The item's JSON once it is closed. */
  readonly json: string;
  open(): string;
  /** Another block of the answer begins in this item; null when it needs an item of its own. */
  startBlock(head: BlockHead): string | null;
  delta(text: string): string;
  cite(citation: Citation): void;
  endBlock(): string;
  close(status: ItemStatus): string;
}

/** What all items have in common: how they begin, end and are spoken of. */
export abstract class BaseItem {
  json = "";
  protected readonly place: ItemPlace;

  constructor(place: ItemPlace) {
    this.place = place;
  }

  startBlock(_head: BlockHead): string | null {
    return null;
  }

  cite(_citation: Citation): void {}

  protected added(item: object): string {
    return this.place.lines.line(
      "response.output_item.added",
      `"output_index":${this.place.index},"item":${JSON.stringify(item)}`,
    );
  }

  protected done(json: string): string {
    this.json = json;
    return this.place.lines.line("response.output_item.done", `"output_index":${this.place.index},"item":${json}`);
  }

  /** An event about this item. `members` begin with a comma. */
  protected say(type: string, members: string): string {
    const { lines, index, id } = this.place;
    return lines.line(type, `"item_id":"${id}","output_index":${index}${members}`);
  }
}

/** Renders events with their running number. */
export class NumberedEvents {
  #next = 0;

  get next(): number {
    return this.#next;
  }

  /** `members`: JSON text of the event's own members, without braces; type and number are put around them. */
  line(type: string, members: string): string {
    return `event: ${type}\ndata: {"type":"${type}",${members},"sequence_number":${this.#next++}}\n\n`;
  }
}

/** A picture inside an answer, as the image generation tool would give it. */
export class ImageItem extends BaseItem implements OutputItem {
  readonly #data: string;
  readonly #format: string;

  constructor(place: ItemPlace, mediaType: string, data: string) {
    super(place);
    this.#data = data;
    this.#format = mediaType.replace(/^image\//, "");
  }

  open(): string {
    return this.added({ type: "image_generation_call", id: this.place.id, status: "in_progress", result: null });
  }

  delta(): string {
    return "";
  }

  endBlock(): string {
    return this.say("response.image_generation_call.completed", "");
  }

  close(): string {
    return this.done(
      JSON.stringify({
        type: "image_generation_call",
        id: this.place.id,
        status: "completed",
        result: this.#data,
        output_format: this.#format,
      }),
    );
  }
}

/** The one item of a compaction: everything that the model writes is its summary, thoughts and calls are nothing. */
export class CompactionItem extends BaseItem implements OutputItem {
  #summary = "";
  #isText = false;

  get summary(): string {
    return this.#summary.trim();
  }

  open(): string {
    return this.added({ type: "compaction", id: this.place.id, encrypted_content: "" });
  }

  override startBlock(head: BlockHead): string {
    this.#isText = head.kind === "text";
    if (this.#isText && this.#summary !== "") this.#summary += "\n\n";
    return "";
  }

  /** Says that it goes on, and nothing of the content. */
  delta(text: string): string {
    if (this.#isText) this.#summary += text;
    return this.say("response.compaction.compacting", "");
  }

  endBlock(): string {
    return "";
  }

  close(): string {
    const encrypted_content = sealSummary(this.summary);
    return this.done(JSON.stringify({ type: "compaction", id: this.place.id, encrypted_content }));
  }
}

/** Thoughts as one summary part, and their seal as encrypted content. */
export class ReasoningItem extends BaseItem implements OutputItem {
  readonly #note: SealNote;
  readonly #account: string;
  #summary = "";
  #sealed: string | null = null;

  /** `account`: whose thoughts these are. */
  constructor(place: ItemPlace, note: SealNote, account: string) {
    super(place);
    this.#note = note;
    this.#account = account;
  }

  open(): string {
    return this.added({ type: "reasoning", id: this.place.id, summary: [] });
  }

  seal(seal: Seal): void {
    this.#sealed = writeSealed(seal, this.#note);
  }

  delta(text: string): string {
    const added =
      this.#summary === ""
        ? this.say("response.reasoning_summary_part.added", `,"summary_index":0,"part":${summaryJson("")}`)
        : "";
    this.#summary += text;
    return (
      added + this.say("response.reasoning_summary_text.delta", `,"summary_index":0,"delta":${JSON.stringify(text)}`)
    );
  }

  endBlock(): string {
    if (this.#summary === "") return "";
    const text = JSON.stringify(this.#summary);
    return (
      this.say("response.reasoning_summary_text.done", `,"summary_index":0,"text":${text}`) +
      this.say("response.reasoning_summary_part.done", `,"summary_index":0,"part":${summaryJson(this.#summary)}`)
    );
  }

  close(): string {
    const summary = this.#summary === "" ? [] : [{ type: "summary_text", text: this.#summary }];
    const sealed = this.#sealed ?? writeSealed(bareSeal(this.#account), null);
    return this.done(JSON.stringify({ type: "reasoning", id: this.place.id, summary, encrypted_content: sealed }));
  }
}

function summaryJson(text: string): string {
  return JSON.stringify({ type: "summary_text", text });
}

/**
 * What a sealed text is beside the thoughts it seals: `redacted` thoughts have no text by their vendor's will;
 * `call` seals the tool call before it, for which this dialect has no field.
 */
type SealNote = "redacted" | "call" | null;

/** A seal as `encrypted_content`. The note stands behind a point, which base64url does not use. */
function writeSealed(seal: Seal, note: SealNote): string {
  if (seal.dialect === "openai-responses" && note === null) return seal.data;
  return note === null ? sealText(seal) : `${sealText(seal)}.${note}`;
}

export function readSealed(text: string, itemId: string | null): { readonly seal: Seal; readonly note: SealNote } {
  const point = text.startsWith(sealMark) ? text.indexOf(".", sealMark.length) : -1;
  const word = point === -1 ? "" : text.slice(point + 1);
  const note = word === "redacted" || word === "call" ? word : null;
  const seal = note === null ? null : readSealText(text.slice(0, point));
  return seal === null ? { seal: sealFrom(text, "openai-responses", itemId), note: null } : { seal, note };
}
