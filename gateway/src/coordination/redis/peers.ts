import { bounds } from "#core/index.ts";

/** The processes that count, this one too, and until when by its monotonic clock their leases hold. */
export class Peers {
  #untilMs = new Map<string, number>();

  /** `owners`: each and until when its lease holds by the server's clock; this process's is `aheadMs` ahead of that. */
  see(owners: readonly unknown[], aheadMs: number): void {
    this.#untilMs = new Map();
    for (let at = 0; at < owners.length; at += 2) {
      this.#untilMs.set(String(owners[at]), Number(owners[at + 1]) + aheadMs);
    }
  }

  /** One that lives: its lease holds for as long as a whole one. */
  add(owner: string, atMs: number): void {
    if (!this.#untilMs.has(owner)) this.#untilMs.set(owner, atMs + bounds.redisLeaseMs);
  }

  /** As scripts read it: each and for how many milliseconds its lease holds. */
  left(atMs: number): readonly string[] {
    return [...this.#untilMs].flatMap(([owner, untilMs]) => [owner, String(Math.ceil(untilMs - atMs))]);
  }
}
