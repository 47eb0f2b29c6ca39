import type { FromWorker } from "./messages.ts";
import type { StartWorker } from "./worker-process.ts";

/** Longer lines are split. */
const workerLineBytesMax = 256 * 1024;

interface WorkerCommand {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Receives whole lines of the workers' output. */
  readonly write: (lines: string) => void;
}

/** Starts workers as processes with a channel, and forwards their output by lines. */
export function workerSpawner({ words, env, write }: WorkerCommand): StartWorker {
  // Not inherited from our own launcher.
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
          // It has ended; see `ended`.
        }
      },
      signal(name) {
        try {
          child.kill(name);
        } catch {
          // It has ended; see `ended`.
        }
      },
    };
  };
}

function isMessage(message: unknown): message is FromWorker {
  return typeof message === "object" && message !== null && "kind" in message;
}

/**
 * Forwards output in whole lines, so that lines of several processes never mix. Lines over `lineBytesMax` are split. An unfinished last
 * line is completed.
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
    // The pipe broke.
  }
  pass(decoder.decode());
  if (rest !== "") write(`${rest}\n`);
}
