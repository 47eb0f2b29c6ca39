/** What came before its time. */
export class HeldBytes {
  #pieces: Buffer[] = [];
  length = 0;

  add(bytes: Buffer): void {
    this.#pieces.push(bytes);
    this.length += bytes.length;
  }

  /** All of it, in one piece; nothing is held from here on. */
  take(): Buffer {
    const pieces = this.#pieces;
    this.#pieces = [];
    this.length = 0;
    return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
  }

  clear(): void {
    this.#pieces = [];
    this.length = 0;
  }
}
