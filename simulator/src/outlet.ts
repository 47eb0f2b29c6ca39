export type HeaderRow = readonly [name: string, value: string];

/** The receiver of one answer: a socket, or a Response in this process. Calls after it is closed are ignored. */
export interface Outlet {
  /** True once the client has disconnected or the answer is complete. */
  readonly closed: boolean;
  /** `act` is called once if the client disconnects before the answer is complete. */
  onGone(act: () => void): void;
  /** If `length` is null, the body is sent in chunks. */
  head(status: number, headers: readonly HeaderRow[], length: number | null): void;
  /** Writes a piece of the body. If it returns a promise, the client is slow: wait for it. */
  write(bytes: Uint8Array): Promise<void> | null;
  /** Ends the answer cleanly. The promise resolves when everything has been sent. */
  end(): Promise<void> | null;
  /** Sends the status line, headers and whole body at once, and ends the answer cleanly. */
  whole(status: number, headers: readonly HeaderRow[], body: string): Promise<void> | null;
  /** Writes bytes outside any framing. */
  raw(bytes: Uint8Array): void;
  /** Closes with FIN, even if the body is incomplete. */
  cut(): void;
  /** Closes with RST. */
  reset(): void;
}
