import type { BlockHead, Citation } from "#core/index.ts";
import type { NumberedEvents } from "./numbered-events.ts";

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
