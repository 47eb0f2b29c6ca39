import type { PastEntry } from "#storage/in-thread.ts";
import type { PastCall } from "./past-call.ts";

export interface AttemptEnd {
  readonly at: number;
  readonly order: number;
  readonly call: PastCall;
  readonly entry: PastEntry;
}

/** Ends of running attempts, earliest first: a binary heap. Equal times keep the order in which they were added. */
export class AttemptEnds {
  readonly #heap: AttemptEnd[] = [];
  #added = 0;

  get size(): number {
    return this.#heap.length;
  }

  get first(): AttemptEnd | undefined {
    return this.#heap[0];
  }

  add(call: PastCall, entry: PastEntry): void {
    const heap = this.#heap;
    const end = { at: Math.max(entry.at, entry.endedAt), order: this.#added++, call, entry };
    let index = heap.length;
    heap.push(end);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent] as AttemptEnd;
      if (!isBefore(end, above)) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = end;
  }

  /** Removes the first. */
  take(): AttemptEnd | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as AttemptEnd, heap[child] as AttemptEnd)) child++;
      if (!isBefore(heap[child] as AttemptEnd, last)) break;
      heap[index] = heap[child] as AttemptEnd;
      index = child;
    }
    heap[index] = last;
    return first;
  }
}

function isBefore(one: AttemptEnd, other: AttemptEnd): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}
