/**
 * Circuit breaker of a database server, shared by all connections of a database. The watch opens it; while open, new statements fail at
 * once and running ones end.
 */
export class ServerBreaker {
  #isOpen = false;
  #answers = 0;
  readonly #onOpen = new Set<() => void>();

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Statements answered, including errors. A slow server still answers some. */
  get answers(): number {
    return this.#answers;
  }

  countAnswer(): void {
    this.#answers++;
  }

  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    for (const act of [...this.#onOpen]) act();
  }

  close(): void {
    this.#isOpen = false;
  }

  /** Calls `act` each time it opens. The returned function unsubscribes. */
  onOpen(act: () => void): () => void {
    // A new function, so that the same one can be registered twice.
    const listener = (): void => act();
    this.#onOpen.add(listener);
    return () => void this.#onOpen.delete(listener);
  }
}
