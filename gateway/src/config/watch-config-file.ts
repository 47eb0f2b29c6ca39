import { stat } from "node:fs/promises";
import { bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";

export interface WatchOptions {
  readonly clock: Clock;
  /** Told what `onChange` threw; watching goes on. */
  readonly onError: (thrown: unknown) => void;
}

export interface ConfigWatch {
  /** Runs `onChange` now, whether or not the file changed (SIGHUP). Resolves when that run has ended. */
  trigger(): Promise<void>;
  /** No run begins after this; resolves when a run under way has ended. */
  close(): Promise<void>;
}

/**
 * Calls `onChange` within a second after the file became another: edited in place, renamed over, or reached through
 * links that now lead elsewhere (as Kubernetes does). It looks at the path instead of asking the system for events,
 * which get lost for links, network drives and containers. Two looks in a row must agree, so that a file is not read
 * while it is being written. Runs never overlap. A file that vanishes counts as a change, and loading it says so.
 * Start watching before the first load, so that a change in between is not missed.
 */
export function watchConfigFile(file: string, onChange: () => Promise<void>, options: WatchOptions): ConfigWatch {
  const { clock, onError } = options;
  let closed = false;
  let cancelNextLook = (): void => {};
  let running: Promise<void> = Promise.resolve();
  let taken: string | null = null;
  let seen: string | null = null;

  const run = (): Promise<void> => {
    running = running.then(async () => {
      if (closed) return;
      try {
        await onChange();
      } catch (thrown) {
        onError(thrown);
      }
    });
    return running;
  };

  const look = async (): Promise<void> => {
    const now = await identityOf(file);
    if (closed) return;
    taken ??= now;
    if (now !== taken && now === seen) {
      taken = now;
      await run();
    }
    seen = now;
    if (!closed) lookLater();
  };

  const lookLater = (): void => {
    cancelNextLook = clock.after(bounds.configPollMs, () => void look());
  };

  void look();
  return {
    trigger: run,
    close: async () => {
      closed = true;
      cancelNextLook();
      await running;
    },
  };
}

/** What tells one state of the file from another. Never throws. */
async function identityOf(file: string): Promise<string> {
  try {
    // Of what links lead to: another file has another number, and the same one the same text.
    const facts = await stat(file, { bigint: true });
    return [facts.dev, facts.ino, facts.size, facts.mtimeNs, facts.ctimeNs].join(" ");
  } catch (thrown) {
    return `missing ${thrown instanceof Error && "code" in thrown ? String(thrown.code) : ""}`;
  }
}
