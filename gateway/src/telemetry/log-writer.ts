import { bounds } from "#core/index.ts";

/** What a log goes to: process.stderr, or anything like it. */
export interface LogStream {
  readonly writableLength: number;
  write(text: string): unknown;
  on(event: "error", listener: () => void): unknown;
  listenerCount?(event: "error"): number;
}

/** Writes lines without ever waiting: when the reader of the log stalls, lines are dropped and counted. */
export function createLogWriter(stream: LogStream): (line: string) => void {
  let dropped = 0;
  // A closed pipe is no reason to die: the gateway serves on, unheard.
  if (!stream.listenerCount?.("error")) stream.on("error", () => {});
  return (line) => {
    if (stream.writableLength > bounds.logBacklogBytesMax) {
      dropped++;
      return;
    }
    if (dropped > 0) {
      stream.write(`${JSON.stringify({ level: "warn", msg: "Log lines were dropped.", dropped })}\n`);
      dropped = 0;
    }
    stream.write(line);
  };
}
