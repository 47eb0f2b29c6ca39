/**
 * Whether a database server answers this process, shared by all connections of one open database. Whoever watches the server
 * opens it. While it is open nobody waits: new statements are refused at once, and those under way end.
 */
export class ServerBreaker {
  #isOpen = false;
  #answers = 0;
  readonly #onOpen = new Set<() => void>();

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Statements that the server has answered, with rows or with an error. A slow server still answers some. */
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

  /** Calls `act` each time that it opens, until the returned function is called. */
  onOpen(act: () => void): () => void {
    // Wrapped, so that one function given twice is two listeners.
    const listener = (): void => act();
    this.#onOpen.add(listener);
    return () => void this.#onOpen.delete(listener);
  }
}
