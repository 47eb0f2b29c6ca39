import type { PastEntry } from "#storage/in-thread.ts";
import type { PastCall } from "./past-call.ts";

/** Calls that are not over, by their request. Numbers as keys, because most calls are only added and removed. */
export class OpenCalls {
  /** Calls with the same hash are chained. */
  readonly #calls = new Map<number, PastCall>();

  find(entry: PastEntry): PastCall | undefined {
    let call = this.#calls.get(entry.requestHash) ?? null;
    while (call !== null && call.first.requestId !== entry.requestId) call = call.nextOpen;
    return call ?? undefined;
  }

  /** It is found instead of an earlier one of the same request. */
  add(call: PastCall): void {
    const { requestHash } = call.first;
    let next = this.#calls.get(requestHash) ?? null;
    if (next !== null && next.first.requestId === call.first.requestId) next = next.nextOpen;
    call.nextOpen = next;
    this.#calls.set(requestHash, call);
  }

  remove(call: PastCall): void {
    const { requestHash } = call.first;
    const newest = this.#calls.get(requestHash) ?? null;
    if (newest === call) {
      if (call.nextOpen === null) this.#calls.delete(requestHash);
      else this.#calls.set(requestHash, call.nextOpen);
    } else {
      let before = newest;
      while (before !== null && before.nextOpen !== call) before = before.nextOpen;
      if (before !== null) before.nextOpen = call.nextOpen;
    }
    call.nextOpen = null;
  }
}
