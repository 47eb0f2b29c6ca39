import { connect } from "node:net";
import { systemClock } from "#system/index.ts";

export interface Callers {
  /** Calls that were answered. */
  answered(): number;
  /** Process ids that answered. */
  readonly seen: ReadonlySet<string>;
  /** Ends them; gives what failed, in words. */
  stop(): Promise<readonly string[]>;
}

/** Its answer takes a moment: a call is under way all the time, and few are made in that time. */
const request = "GET /soon HTTP/1.1\r\nHost: localhost\r\n\r\n";

/**
 * Callers that never rest: some open a connection for each call, some say nothing on a new one for a while, and some keep theirs
 * for many calls. A call fails when its connection ends before the answer.
 */
export function callWithoutRest(port: number): Callers {
  const failures: string[] = [];
  const seen = new Set<string>();
  let answered = 0;
  let stopping = false;

  const answer = (text: string): void => {
    answered++;
    seen.add(text.slice(text.indexOf("\r\n\r\n") + 4));
  };
  /** One connection: calls on it until it is told to close, or `calls` were made. */
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
