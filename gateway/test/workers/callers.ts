import { connect } from "node:net";
import { systemClock } from "#system/index.ts";

export interface Callers {
  /** Calls answered so far. */
  answered(): number;
  /** Process ids that answered. */
  readonly seen: ReadonlySet<string>;
  /** Stops the callers and returns their errors. */
  stop(): Promise<readonly string[]>;
}

/** An endpoint with a delayed answer, so that a call is always running without many calls. */
const request = "GET /soon HTTP/1.1\r\nHost: localhost\r\n\r\n";

/**
 * Callers without pauses: some open a connection per call, some stay silent on a new one for a while, and some reuse theirs
 * for many calls. A call fails when its connection ends before the answer.
 */
export function callWithoutPause(port: number): Callers {
  const failures: string[] = [];
  const seen = new Set<string>();
  let answered = 0;
  let stopping = false;

  const answer = (text: string): void => {
    answered++;
    seen.add(text.slice(text.indexOf("\r\n\r\n") + 4));
  };
  /** Calls on one connection until the server asks to close it or `calls` were made. */
  const converse = (name: string, calls: number, silentMs: number): Promise<void> =>
    new Promise((resolve) => {
      const socket = connect(port, "127.0.0.1");
      let waiting = true;
      let left = calls;
      const over = (failure: string | null): void => {
        if (failure !== null && waiting) failures.push(`${name}: ${failure}`);
        waiting = false;
        socket.destroy();
        resolve();
      };
      const ask = (): void => {
        waiting = true;
        left--;
        socket.write(request);
      };
      socket.on("connect", () => {
        socket.on("close", systemClock.after(silentMs, ask));
      });
      socket.on("data", (bytes) => {
        const text = bytes.toString("latin1");
        answer(text);
        waiting = false;
        if (/^connection: close/im.test(text) || left === 0 || stopping) over(null);
        else ask();
      });
      socket.on("error", (error: NodeJS.ErrnoException) => over(error.code ?? error.message));
      socket.on("end", () => over("ended"));
    });
  const again = async (one: () => Promise<void>): Promise<void> => {
    while (!stopping) await one();
  };
  const all = [
    ...Array.from({ length: 4 }, () => again(() => converse("new", 1, 0))),
    ...Array.from({ length: 3 }, () => again(() => converse("silent at first", 1, 200))),
    ...Array.from({ length: 3 }, () => again(() => converse("kept", Number.POSITIVE_INFINITY, 0))),
  ];
  return {
    answered: () => answered,
    seen,
    async stop() {
      stopping = true;
      await Promise.all(all);
      return failures;
    },
  };
}
