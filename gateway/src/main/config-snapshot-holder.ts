import { bounds, type ConfigSnapshot, LastingFault } from "#core/index.ts";
import type { Clock, Observer } from "#ports/index.ts";

interface FollowOptions {
  readonly observer: Pick<Observer, "log">;
  /** Runs after each reload. */
  readonly alsoRead?: () => Promise<void>;
}

/**
 * Holds the current configuration. A reload replaces it as a whole. Reloads requested during a reload are merged into one more, so that
 * the last change wins. If the database cannot be read the current snapshot is kept and the reload is retried, because each change is
 * announced only once.
 */
export class ConfigSnapshotHolder {
  readonly #read: () => Promise<ConfigSnapshot>;
  readonly #clock: Clock;
  #current: ConfigSnapshot;
  #following: (FollowOptions & { readonly fault: LastingFault }) | null = null;
  #loading: Promise<void> | null = null;
  #again = false;
  #cancelTimer = (): void => undefined;
  #closed = false;

  constructor(read: () => Promise<ConfigSnapshot>, clock: Clock, first: ConfigSnapshot) {
    this.#read = read;
    this.#clock = clock;
    this.#current = first;
  }

  /** Starts reloading when a scheduled price becomes effective, and logging failures. */
  follow(options: FollowOptions): void {
    const fault = "failed to reload the configuration; keeping the current one";
    const over = "configuration reloaded after failures";
    const { observer } = options;
    this.#following = {
      ...options,
      fault: new LastingFault({ clock: this.#clock, observer, level: "error", fault, over }),
    };
    this.#scheduleNextPrice();
  }

  get current(): ConfigSnapshot {
    return this.#current;
  }

  refresh(): Promise<void> {
    if (this.#loading !== null) {
      this.#again = true;
      return this.#loading;
    }
    this.#loading = this.#load().finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  /** Resolves when no reload is running. */
  async settled(): Promise<void> {
    await this.#loading;
  }

  close(): void {
    this.#closed = true;
    this.#cancelTimer();
  }

  async #load(): Promise<void> {
    do {
      this.#again = false;
      this.#cancelTimer();
      try {
        this.#current = await this.#read();
        await this.#following?.alsoRead?.();
        this.#following?.fault.succeeded();
        this.#scheduleNextPrice();
      } catch (thrown) {
        this.#following?.fault.failed({ error: thrown });
        if (!this.#closed) {
          this.#cancelTimer = this.#clock.after(bounds.changePollMs, () => void this.refresh());
        }
      }
    } while (this.#again);
  }

  #scheduleNextPrice(): void {
    const { nextPriceAt } = this.#current;
    if (nextPriceAt === undefined || this.#closed) return;
    const delayMs = Math.min(Math.max(0, nextPriceAt - this.#clock.now()), waitMaxMs);
    this.#cancelTimer = this.#clock.after(delayMs, () => void this.refresh());
  }
}

/** Longest timer, because the clock may be set and timers of the runtime end at 24 days. */
const waitMaxMs = 3_600_000;
