import type { BlockHead } from "#core/index.ts";
import { sealSummary } from "./compaction.ts";
import { BaseItem, type OutputItem } from "./output-item.ts";

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
