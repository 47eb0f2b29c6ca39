export interface ApiServer {
  readonly port: number;
  /** WebSockets that are open. */
  readonly sockets: () => number;
  /** The port and idle connections are closed; WebSockets end with what is under way on them, other connections with their answer. */
  leave(): void;
  /** Only the WebSockets end so. */
  leaveSockets(): void;
  /** Requests being answered, streams included. */
  readonly pending: () => number;
  /** Another server takes the port over: from now on connections end with their answers. */
  retire(): void;
  /** Closes the port and idle connections. Resolves when all that is under way has ended, WebSockets too. */
  closePort(): Promise<void>;
  /** Closes the port; `now` also ends what is still open. */
  stop(now: boolean): Promise<void>;
}

/** What a port shows to callers, both as PEM. */
export interface ServerCertificate {
  readonly chain: string;
  readonly key: string;
}
