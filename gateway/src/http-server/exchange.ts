/** One request and its answer, as the connection knows them. */
export interface ServerExchange {
  /** The head has been read, and what came of the body with it was told. */
  start(): void;
  onBody(piece: Uint8Array): void;
  /** The request has come to its end. */
  onBodyEnd(): void;
  /** The request is not what its head said. Its answer still reaches the caller. */
  onMalformed(thrown: unknown): void;
  /** The request arrives too slowly. False: it is refused in place of the exchange, which is over. */
  onSlow(): boolean;
  /** The caller sends no more: it has gone, though what is written may still reach it. */
  onCallerDone(): void;
  /** The whole answer has left. */
  onSent(): void;
  /** The caller cannot be reached any more. `slow`: because it read its answer too slowly. */
  onGone(slow: boolean): void;
  /** What was written has left: there is room for more. */
  onRoom(): void;
  /** Bytes of a connection that speaks another protocol now. */
  onRaw(bytes: Uint8Array): void;
}
