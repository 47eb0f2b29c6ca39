export type HeaderRow = readonly [name: string, value: string];

/** Where one answer goes: a socket, or a Response inside this process. Everything after the close is ignored. */
export interface Outlet {
  /** True once the other side has gone or the answer is over. */
  readonly closed: boolean;
  /** Called once if the other side goes before the answer is over. */
  onGone(act: () => void): void;
  /** `length` null: the body is framed in chunks. */
  head(status: number, headers: readonly HeaderRow[], length: number | null): void;
  /** A piece of the body. A promise means: wait, the other side is slow. */
  write(bytes: Uint8Array): Promise<void> | null;
  /** The clean end. A promise resolves when everything has left. */
  end(): Promise<void> | null;
  /** Status line, headers and whole body at once; the clean end included. */
  whole(status: number, headers: readonly HeaderRow[], body: string): Promise<void> | null;
  /** Bytes outside any framing. */
  raw(bytes: Uint8Array): void;
  /** Closes with FIN, whatever the framing says. */
  cut(): void;
  /** Closes with RST. */
  reset(): void;
}
