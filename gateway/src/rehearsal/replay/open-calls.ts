import type { PastCall } from "./past-call.ts";

/** Calls that are not over, by their request. Numbers as keys, because most calls are only added and removed. */
export class OpenCalls {
  /** Calls with the same hash are chained. */
  readonly #calls = new Map<number, PastCall>();

  find(requestId: string): PastCall | undefined {
    let call = this.#calls.get(hashOf(requestId)) ?? null;
    while (call !== null && call.first.requestId !== requestId) call = call.nextOpen;
    return call ?? undefined;
  }

  /** It is found instead of an earlier one of the same request. */
  add(call: PastCall): void {
    const hash = hashOf(call.first.requestId);
    const { requestId } = call.first;
    let next = this.#calls.get(hash) ?? null;
    if (next?.first.requestId === requestId) next = next.nextOpen;
    call.nextOpen = next;
    this.#calls.set(hash, call);
  }

  remove({ first: { requestId } }: PastCall): void {
    const hash = hashOf(requestId);
    let before: PastCall | null = null;
    let call = this.#calls.get(hash) ?? null;
    while (call !== null && call.first.requestId !== requestId) {
      before = call;
      call = call.nextOpen;
    }
    if (call === null) return;
    if (before !== null) before.nextOpen = call.nextOpen;
    else if (call.nextOpen !== null) this.#calls.set(hash, call.nextOpen);
    else this.#calls.delete(hash);
    call.nextOpen = null;
  }
}

/** Ids end with random characters. */
function hashOf(id: string): number {
  let hash = 0;
  for (let at = Math.max(0, id.length - 8); at < id.length; at++)
    hash = ((hash << 5) ^ (hash >>> 27) ^ id.charCodeAt(at)) | 0;
  return hash;
}
