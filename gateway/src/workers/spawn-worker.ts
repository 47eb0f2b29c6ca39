import type { FromWorker } from "./messages.ts";
import type { StartWorker } from "./worker-process.ts";

/** A longer line of a worker's log is split. */
const workerLineBytesMax = 256 * 1024;

interface WorkerCommand {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Takes whole lines of what workers print on either output. */
  readonly write: (lines: string) => void;
}

/** Starts workers as processes of this command, with a channel to each, and passes on what they print, line by line. */
export function workerSpawner({ words, env, write }: WorkerCommand): StartWorker {
  // The channel of our own launcher is no business of theirs.
  const { NODE_CHANNEL_FD: _, NODE_CHANNEL_SERIALIZATION_MODE: __, ...own } = env;
  return (hear) => {
    const child = Bun.spawn([...words], {
      env: own,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      serialization: "json",
      ipc: (message) => {
        if (isMessage(message)) hear(message);
      },
    });
    const passed = Promise.all(
      [child.stdout, child.stderr].map((stream) => passLines(stream, write, workerLineBytesMax)),
    );
    return {
      pid: child.pid,
      ended: child.exited.then(async () => {
        await passed;
        return {
          code: child.signalCode === null ? child.exitCode : null,
          signal: child.signalCode === null ? null : String(child.signalCode),
        };
      }),
      send(message) {
        try {
          child.send(message);
        } catch {
          // It has gone; `ended` says so.
        }
      },
      signal(name) {
        try {
          child.kill(name);
        } catch {
          // As above.
        }
      },
    };
  };
}

function isMessage(message: unknown): message is FromWorker {
  return typeof message === "object" && message !== null && "kind" in message;
}

/**
 * Passes on what a process prints in whole lines, so that those of several never mix. A line longer than `lineBytesMax` is
 * parted. What the process did not end with a line break, because it was killed in the middle, gets one.
 */
export async function passLines(
  stream: ReadableStream<Uint8Array>,
  write: (lines: string) => void,
  lineBytesMax: number,
): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  const pass = (text: string): void => {
    rest += text;
    const end = rest.lastIndexOf("\n") + 1;
    if (end > 0) {
      write(rest.slice(0, end));
      rest = rest.slice(end);
    }
    if (rest.length >= lineBytesMax) {
      write(`${rest}\n`);
      rest = "";
    }
  };
  try {
    for await (const bytes of stream) pass(decoder.decode(bytes, { stream: true }));
  } catch {
    // A pipe that breaks has no more to say.
  }
  pass(decoder.decode());
  if (rest !== "") write(`${rest}\n`);
}
