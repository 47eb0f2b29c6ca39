import { bounds, type ConfigSnapshot, LastingFault } from "#core/index.ts";
import type { Clock, Observer } from "#ports/index.ts";

interface Following {
  readonly observer: Pick<Observer, "log">;
  /** What else comes into force with a snapshot. */
  readonly alsoRead?: () => Promise<void>;
}

/**
 * The snapshot in force. It is replaced whole when something changed; loads that overlap become one more load, so
 * that the last change always wins. When the database cannot be read the last good snapshot stays, and it is read again until that is
 * done: nobody tells of the same change twice.
 */
export class ConfigSnapshotHolder {
  readonly #read: () => Promise<ConfigSnapshot>;
  readonly #clock: Clock;
  #current: ConfigSnapshot;
  #following: (Following & { readonly fault: LastingFault }) | null = null;
  #loading: Promise<void> | null = null;
  #again = false;
  #unbook = (): void => undefined;
  #closed = false;

  constructor(read: () => Promise<ConfigSnapshot>, clock: Clock, first: ConfigSnapshot) {
    this.#read = read;
    this.#clock = clock;
    this.#current = first;
  }

  /** From now on it is read again at `refresh`, and when a price begins. */
  follow(following: Following): void {
    const fault = "The configuration could not be read again; the last one stays in force.";
    const over = "The configuration was read again.";
    const { observer } = following;
    this.#following = {
      ...following,
      fault: new LastingFault({ clock: this.#clock, observer, level: "error", fault, over }),
    };
    this.#bookNextPrice();
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
        this.#current = await this.#read();
        await this.#following?.alsoRead?.();
        this.#following?.fault.passed();
        this.#bookNextPrice();
      } catch (thrown) {
        this.#following?.fault.failed({ error: thrown });
        if (!this.#closed) {
          this.#unbook = this.#clock.after(bounds.changePollMs, () => void this.refresh());
        }
      }
    } while (this.#again);
  }

  /** A price that begins later comes into force with a reading at that moment. */
  #bookNextPrice(): void {
    const { nextPriceAt } = this.#current;
    if (nextPriceAt === undefined || this.#closed) return;
    const delayMs = Math.min(Math.max(0, nextPriceAt - this.#clock.now()), waitMaxMs);
    this.#unbook = this.#clock.after(delayMs, () => void this.refresh());
  }
}

/** No timer is booked for longer: clocks are set, and the runtime's end at 24 days. */
const waitMaxMs = 3_600_000;
