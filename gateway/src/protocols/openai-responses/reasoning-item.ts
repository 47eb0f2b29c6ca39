import type { Seal } from "#core/index.ts";
import { bareSeal } from "../seal-text.ts";
import { BaseItem, type ItemPlace, type OutputItem } from "./output-item.ts";
import { type SealNote, writeSealed } from "./sealed-reasoning.ts";

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
