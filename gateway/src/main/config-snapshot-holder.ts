import { bounds, type ConfigSnapshot, LastingFault } from "#core/index.ts";
import type { ControlStore } from "#directory/index.ts";
import type { Clock, Observer } from "#ports/index.ts";

export interface ConfigSnapshotHolderOptions {
  readonly controlStore: Pick<ControlStore, "configSnapshot">;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
  /** What else comes into force with it. */
  readonly alsoRead?: () => Promise<void>;
}

/**
 * The snapshot in force. It is replaced whole when something changed; loads that overlap become one more load, so
 * that the last change always wins. When the database cannot be read the last good snapshot stays, and it is read again until that is
 * done: nobody tells of the same change twice.
 */
export class ConfigSnapshotHolder {
  readonly #options: ConfigSnapshotHolderOptions;
  readonly #unread: LastingFault;
  #current: ConfigSnapshot;
  #loading: Promise<void> | null = null;
  #again = false;
  #unbook = (): void => undefined;
  #closed = false;

  constructor(options: ConfigSnapshotHolderOptions, first: ConfigSnapshot) {
    this.#options = options;
    this.#current = first;
    this.#bookNextPrice();
    const fault = "The configuration could not be read again; the last one stays in force.";
    this.#unread = new LastingFault({
      ...options,
      level: "error",
      fault,
      over: "The configuration was read again.",
    });
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

  /** Resolves when the reading that is under way, if any, has come into force. */
  async settled(): Promise<void> {
    await this.#loading;
  }

  /** Nothing is read again from now on. */
  close(): void {
    this.#closed = true;
    this.#unbook();
  }

  async #load(): Promise<void> {
    do {
      this.#again = false;
      this.#unbook();
      try {
        this.#current = await this.#options.controlStore.configSnapshot();
        await this.#options.alsoRead?.();
        this.#unread.passed();
        this.#bookNextPrice();
      } catch (thrown) {
        this.#unread.failed({ error: thrown });
        if (!this.#closed) {
          this.#unbook = this.#options.clock.after(bounds.changePollMs, () => void this.refresh());
        }
      }
    } while (this.#again);
  }

  /** A price that begins later comes into force with a reading at that moment. */
  #bookNextPrice(): void {
    const { nextPriceAt } = this.#current;
    if (nextPriceAt === undefined || this.#closed) return;
    const { clock } = this.#options;
    const delayMs = Math.min(Math.max(0, nextPriceAt - clock.now()), waitMaxMs);
    this.#unbook = clock.after(delayMs, () => void this.refresh());
  }
}

/** No timer is booked for longer: clocks are set, and the runtime's end at 24 days. */
const waitMaxMs = 3_600_000;
