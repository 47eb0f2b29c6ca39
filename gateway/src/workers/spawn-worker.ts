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
  // The child must not use this process's own channel.
  const { NODE_CHANNEL_FD: _, NODE_CHANNEL_SERIALIZATION_MODE: __, ...own } = env;
  return (onMessage) => {
    const child = Bun.spawn([...words], {
      env: own,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      serialization: "json",
      ipc: (message) => {
        if (isMessage(message)) onMessage(message);
      },
    });
    const outputForwarded = Promise.all(
      [child.stdout, child.stderr].map((stream) => forwardLines(stream, write, workerLineBytesMax)),
    );
    return {
      pid: child.pid,
      ended: child.exited.then(async () => {
        await outputForwarded;
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
export async function forwardLines(
  stream: ReadableStream<Uint8Array>,
  write: (lines: string) => void,
  lineBytesMax: number,
): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  const forward = (text: string): void => {
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
    for await (const bytes of stream) forward(decoder.decode(bytes, { stream: true }));
  } catch {
    // The pipe broke.
  }
  forward(decoder.decode());
  if (rest !== "") write(`${rest}\n`);
}
