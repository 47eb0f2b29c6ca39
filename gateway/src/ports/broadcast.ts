/**
 * Short words between the processes of an installation. They come soon or not at all: what must not be missed stands in the
 * database, and a word only says when to look. In one process nobody else hears.
 */
export interface Broadcast {
  /** To every other process that listens. At most bounds.broadcastTextBytesMax; longer, or too many at once, are dropped. */
  send(topic: BroadcastTopic, text: string): void;
  /** Calls `listener` for what other processes send, until the returned function is called. */
  subscribe(topic: BroadcastTopic, listener: (text: string) => void): () => void;
  /** Whether words arrive here, as far as is known. */
  readonly isUp: boolean;
  close(): Promise<void>;
}

/**
 * `change`: the change feed has news. `config`: whoever applies the config file looks at it. `watch` and `row`: somebody looks at
 * requests as they end; one has ended.
 */
export type BroadcastTopic = "change" | "config" | "watch" | "row";
