import type { Catalog } from "#core/index.ts";
import type { ControlStore, Observer } from "#ports/index.ts";

/**
 * The snapshot in force. It is replaced whole when something changed; loads that overlap become one more load, so
 * that the last change always wins. When the database cannot be read the last good snapshot stays.
 */
export class CatalogHolder {
  readonly #store: ControlStore;
  readonly #observer: Observer;
  #current: Catalog;
  #loading: Promise<void> | null = null;
  #again = false;

  constructor(store: ControlStore, observer: Observer, first: Catalog) {
    this.#store = store;
    this.#observer = observer;
    this.#current = first;
  }

  get current(): Catalog {
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

  async #load(): Promise<void> {
    do {
      this.#again = false;
      try {
        this.#current = await this.#store.catalog();
      } catch (thrown) {
        this.#observer.log("error", "The configuration could not be read again; the last one stays in force.", {
          error: thrown,
        });
      }
    } while (this.#again);
  }
}
