import type { RequestRow } from "@sluice/contract";
import { bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";

export interface RowWordsOptions {
  readonly instanceId: string;
  readonly clock: Pick<Clock, "after">;
  readonly send: (word: string) => void;
}

/** What one word tells of requests that ended in another process. */
export interface RowWord {
  readonly from: string;
  /** How many rows that process had told before: a gap is what was lost on the way. */
  readonly before: number;
  readonly rows: readonly RequestRow[];
  /** By workspace, how many it did not tell because there were too many at once. */
  readonly dropped: readonly (readonly [workspaceId: string, rows: number])[];
}

/** Rows on their way to other processes: gathered for a moment, packed into words, and no more than there is room for. */
export class RowWords {
  readonly #options: RowWordsOptions;
  #rows: string[] = [];
  #dropped = new Map<string, number>();
  #told = 0;
  #forgetTimer: (() => void) | null = null;

  constructor(options: RowWordsOptions) {
    this.#options = options;
  }

  add(row: RequestRow): void {
    const text = this.#rows.length < bounds.tailTellRowsMax ? JSON.stringify(row) : null;
    if (text !== null && Buffer.byteLength(text) <= rowBytesMax) this.#rows.push(text);
    else this.#drop(row.workspace.id);
    this.#forgetTimer ??= this.#options.clock.after(bounds.tailTellMs, () => this.#send());
  }

  /** Nobody is told any more of what waits. */
  forget(): void {
    this.#forgetTimer?.();
    this.#forgetTimer = null;
    this.#rows = [];
    this.#dropped.clear();
  }

  #drop(workspaceId: string): void {
    const known = this.#dropped.get(workspaceId);
    if (known === undefined && this.#dropped.size >= bounds.tailsMax) return;
    this.#dropped.set(workspaceId, (known ?? 0) + 1);
  }

  #send(): void {
    const rows = this.#rows;
    const dropped = JSON.stringify([...this.#dropped]);
    this.forget();
    let together: string[] = [];
    let bytes = 0;
    for (const row of rows) {
      const size = Buffer.byteLength(row) + 1;
      if (bytes + size > rowBytesMax) {
        this.#sendWord(together, "[]");
        together = [];
        bytes = 0;
      }
      together.push(row);
      bytes += size;
    }
    this.#sendWord(together, dropped);
  }

  #sendWord(rows: readonly string[], dropped: string): void {
    const { instanceId, send } = this.#options;
    // What is dropped may be long; it is told apart from rows where both do not fit.
    if (dropped.length > droppedBytesMax && rows.length > 0) {
      this.#sendWord(rows, "[]");
      this.#sendWord([], dropped);
      return;
    }
    send(`{"from":"${instanceId}","before":${this.#told},"dropped":${dropped},"rows":[${rows.join(",")}]}`);
    this.#told += rows.length;
  }
}

/** Null: it is none that this version knows. */
export function readRowWord(word: Readonly<Record<string, unknown>>): RowWord | null {
  const { from, before, rows, dropped } = word;
  if (typeof from !== "string" || typeof before !== "number") return null;
  if (!Array.isArray(rows) || !Array.isArray(dropped)) return null;
  return { from, before, rows: rows.filter(isRow), dropped: dropped.filter(isDropped) };
}

function isRow(row: RequestRow | null): boolean {
  return (
    typeof row?.attempt_id === "string" &&
    /^[\w-]{1,100}$/.test(row.attempt_id) &&
    typeof row.workspace?.id === "string" &&
    typeof row.key?.id === "string"
  );
}

function isDropped(one: readonly unknown[]): boolean {
  return Array.isArray(one) && typeof one[0] === "string" && typeof one[1] === "number";
}

/** Beside the rest of a word, which takes at most so much. */
const droppedBytesMax = 512;
const rowBytesMax = bounds.broadcastTextBytesMax - droppedBytesMax - 256;
