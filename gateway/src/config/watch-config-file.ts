import { type FSWatcher, watch } from "node:fs";
import { stat } from "node:fs/promises";
import { bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";

/**
 * How often the file is checked while it changes, or if it cannot be watched. A change is applied when two checks in a row agree, within
 * one second. Otherwise it is checked every `bounds.configRestMs`, for changes without an event.
 */
const configPollMs = 400;

/** A valid file that could not be applied is read again after this, doubled each time up to the maximum. */
const configRetryMs = 1_000;
const configRetryMsMax = 60_000;

export interface WatchOptions {
  readonly clock: Clock;
  /** Receives errors of `onChange`, which is then retried until it succeeds. */
  readonly onError: (thrown: unknown) => void;
  /** The result of `fileState` before the file was first read, so that no change is missed. Default: the state when watching starts. */
  readonly state?: string;
}

export type ConfigWatch = ReturnType<typeof watchConfigFile>;

/**
 * Calls `onChange` within a second after the file changed: edited in place, replaced, or reached through a link that now points to
 * another file (Kubernetes). Events are lost for links, network drives and containers, so the path is also polled; such a change takes up
 * to two seconds. Two checks in a row must agree, so that a half-written file is not read. Calls never overlap. A deleted file is a change
 * too; loading it then fails.
 */
export function watchConfigFile(file: string, onChange: () => Promise<void>, options: WatchOptions) {
  const { clock, onError } = options;
  let closed = false;
  let cancelNextCheck = (): void => {};
  let cancelRetry = (): void => {};
  let retryMs: number = configRetryMs;
  let running: Promise<void> = Promise.resolve();
  let applied: string | null = options.state ?? null;
  let lastSeen: string | null = null;
  /** There was an event since the last check started. */
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
        // The file is valid; the database may be unavailable, or the disk full.
        cancelRetry = clock.after(retryMs, () => void run());
        retryMs = Math.min(retryMs * 2, configRetryMsMax);
      }
    });
    return running;
  };

  const check = async (): Promise<void> => {
    isChecking = true;
    hasEvent = false;
    // Before the check, so that no change is missed in between.
    events.open();
    const now = await fileState(file);
    if (closed) return;
    if (now !== lastSeen) events.reopen();
    applied ??= now;
    if (now !== applied && now === lastSeen) {
      applied = now;
      await run();
    }
    hasEvent ||= now !== lastSeen;
    lastSeen = now;
    isChecking = false;
    if (!closed) scheduleCheck();
  };

  const scheduleCheck = (): void => {
    cancelNextCheck();
    const waitMs = hasEvent || !events.isActive ? configPollMs : bounds.configRestMs;
    cancelNextCheck = clock.after(waitMs, () => void check());
  };

  void check();
  return {
    /** Calls `onChange` now (SIGHUP). Resolves when it has ended. */
    trigger: run,
    /** No call of `onChange` starts after this. Resolves when the current one has ended. */
    close: async (): Promise<void> => {
      closed = true;
      events.close();
      cancelNextCheck();
      cancelRetry();
      await running;
    },
  };
}

/** Events of the file that the path pointed to when watching it started. */
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

  /** Does nothing if it is open, or if the file is missing or cannot be watched. */
  open(): void {
    if (this.#watcher !== null) return;
    try {
      const watcher = watch(this.#file, { persistent: false });
      watcher.on("change", (kind) => {
        // Moved or deleted: the path may now point to another file.
        if (kind === "rename") this.close();
        this.#onEvent();
      });
      watcher.on("error", () => this.close());
      this.#watcher = watcher;
    } catch {
      this.#watcher = null;
    }
  }

  /** For when the path may point to another file. */
  reopen(): void {
    this.close();
    this.open();
  }

  close(): void {
    this.#watcher?.close();
    this.#watcher = null;
  }
}

/** A text that changes when the file does. Never throws. */
export async function fileState(file: string): Promise<string> {
  try {
    const target = await stat(file, { bigint: true });
    return [target.dev, target.ino, target.size, target.mtimeNs, target.ctimeNs].join(" ");
  } catch (thrown) {
    return `missing ${thrown instanceof Error && "code" in thrown ? String(thrown.code) : ""}`;
  }
}
