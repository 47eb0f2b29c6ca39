/**
 * Room that is shared by workspaces. A workspace may take as much as it leaves free: half if it is alone, and there is always some for
 * another.
 */
export class SharedRoom {
  readonly #max: number;
  readonly #used = new Map<string, number>();
  #total = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get total(): number {
    return this.#total;
  }

  /** `share`: use only this part of the room. */
  hasRoom(workspaceId: string, share = 1): boolean {
    return (this.#used.get(workspaceId) ?? 0) < this.#max * share - this.#total;
  }

  take(workspaceId: string, amount: number): void {
    this.#used.set(workspaceId, (this.#used.get(workspaceId) ?? 0) + amount);
    this.#total += amount;
  }

  release(workspaceId: string, amount: number): void {
    const left = (this.#used.get(workspaceId) ?? 0) - amount;
    if (left > 0) this.#used.set(workspaceId, left);
    else this.#used.delete(workspaceId);
    this.#total -= amount;
  }

  clear(): void {
    this.#used.clear();
    this.#total = 0;
  }
}
