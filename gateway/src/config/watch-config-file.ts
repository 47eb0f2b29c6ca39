import { type FSWatcher, watch } from "node:fs";
import { stat } from "node:fs/promises";
import { bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";

/**
 * How often a config file is looked at while it changes, or cannot be watched. A change counts when two looks in a row agree: well
 * within one second. One that rests is looked at less often, for changes that the system does not tell of: two seconds in all.
 */
const configPollMs = 400;

/** One that is valid and could not be applied is read again after this, doubled each time up to the last. */
const configRetryMs = 1_000;
const configRetryMsMax = 60_000;

export interface WatchOptions {
  readonly clock: Clock;
  /** Told what `onChange` threw. Watching goes on, and it is called again until it does not throw. */
  readonly onError: (thrown: unknown) => void;
  /** What `fileState` said before the file was first read: no change since is missed. Left out: what it is when watching begins. */
  readonly state?: string;
}

export type ConfigWatch = ReturnType<typeof watchConfigFile>;

/**
 * Calls `onChange` within a second after the file became another: edited in place, renamed over, or reached through
 * links that now lead elsewhere (as Kubernetes does, which then removes the old one). The system tells of the file that the path
 * led to; since its events get lost for links, network drives and containers, the path is also looked at now and then, and such
 * a change takes up to two seconds. Two looks in a row must agree, so that a file is not read while it is being written. Runs
 * never overlap. A file that vanishes counts as a change, and loading it says so.
 */
export function watchConfigFile(file: string, onChange: () => Promise<void>, options: WatchOptions) {
  const { clock, onError } = options;
  let closed = false;
  let cancelNextLook = (): void => {};
  let cancelRetry = (): void => {};
  let retryMs: number = configRetryMs;
  let running: Promise<void> = Promise.resolve();
  let applied: string | null = options.state ?? null;
  let seen: string | null = null;
  /** Something was told of the file since the last look began. */
  let hasEvent = false;
  const events = new FileEvents(file, () => {
    if (hasEvent || closed) return;
    hasEvent = true;
    if (!isChecking) scheduleCheck();
  });
  let isChecking = true;

  const run = (): Promise<void> => {
    running = running.then(async () => {
      if (closed) return;
      cancelRetry();
      try {
        await onChange();
        retryMs = configRetryMs;
      } catch (thrown) {
        onError(thrown);
        if (closed) return;
        // Nothing is wrong with the file: a database that is away, a disk that is full.
        cancelRetry = clock.after(retryMs, () => void run());
        retryMs = Math.min(retryMs * 2, configRetryMsMax);
      }
    });
    return running;
  };

  const check = async (): Promise<void> => {
    isChecking = true;
    hasEvent = false;
    // Before the file is looked at, that nothing falls in between.
    events.open();
    const now = await fileState(file);
    if (closed) return;
    if (now !== seen) events.reopen();
    applied ??= now;
    if (now !== applied && now === seen) {
      applied = now;
      await run();
    }
    hasEvent ||= now !== seen;
    seen = now;
    isChecking = false;
    if (!closed) scheduleCheck();
  };

  const scheduleCheck = (): void => {
    cancelNextLook();
    const waitMs = hasEvent || !events.isActive ? configPollMs : bounds.configRestMs;
    cancelNextLook = clock.after(waitMs, () => void check());
  };

  void check();
  return {
    /** Runs `onChange` now, whether or not the file changed (SIGHUP). Resolves when that run has ended. */
    trigger: run,
    /** No run begins after this; resolves when a run under way has ended. */
    close: async (): Promise<void> => {
      closed = true;
      events.close();
      cancelNextLook();
      cancelRetry();
      await running;
    },
  };
}

/** What the system tells of one file: the one that the path led to when it began to listen. */
class FileEvents {
  readonly #file: string;
  readonly #onEvent: () => void;
  #watcher: FSWatcher | null = null;

  constructor(file: string, onEvent: () => void) {
    this.#file = file;
    this.#onEvent = onEvent;
  }

  get isActive(): boolean {
    return this.#watcher !== null;
  }

  /** Unless it does so already. A file that is not there, or that the system cannot watch, is not heard. */
  open(): void {
    if (this.#watcher !== null) return;
    try {
      const watcher = watch(this.#file, { persistent: false });
      watcher.on("change", (kind) => {
        // Moved or removed: what is there now is another file.
        if (kind === "rename") this.close();
        this.#onEvent();
      });
      watcher.on("error", () => this.close());
      this.#watcher = watcher;
    } catch {
      this.#watcher = null;
    }
  }

  /** The path may lead to another file than the one that is listened to. */
  reopen(): void {
    this.close();
    this.open();
  }

  close(): void {
    this.#watcher?.close();
    this.#watcher = null;
  }
}

/** What tells one state of a file from another. Never throws. */
export async function fileState(file: string): Promise<string> {
  try {
    // Of what links lead to: another file has another number, and the same one the same text.
    const facts = await stat(file, { bigint: true });
    return [facts.dev, facts.ino, facts.size, facts.mtimeNs, facts.ctimeNs].join(" ");
  } catch (thrown) {
    return `missing ${thrown instanceof Error && "code" in thrown ? String(thrown.code) : ""}`;
  }
}
