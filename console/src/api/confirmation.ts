/**
 * "Sign in again to do this": calls ask, one dialog answers. Calls that ask while it is open wait for the same answer.
 */
export class Confirmation {
  #answer: ((confirmed: boolean) => void) | null = null;
  #pending: Promise<boolean> | null = null;
  readonly #watchers = new Set<() => void>();

  /** Resolves true once the user has signed in again, false if they cancel. */
  ask(): Promise<boolean> {
    this.#pending ??= new Promise<boolean>((resolve) => {
      this.#answer = resolve;
    });
    this.#notify();
    return this.#pending;
  }

  readonly answer = (confirmed: boolean): void => {
    this.#answer?.(confirmed);
    this.#answer = null;
    this.#pending = null;
    this.#notify();
  };

  readonly isOpen = (): boolean => this.#pending !== null;

  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  #notify(): void {
    for (const watcher of this.#watchers) watcher();
  }
}
