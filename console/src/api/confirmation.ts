/**
 * "Sign in again to do this": calls ask, one dialog answers. Calls that ask while it is open wait for the same answer.
 */
export class Confirmation {
  #answer: ((confirmed: boolean) => void) | null = null;
  #asked: Promise<boolean> | null = null;
  readonly #watchers = new Set<() => void>();

  /** Resolves true once the user has signed in again, false if they cancel. */
  ask(): Promise<boolean> {
    this.#asked ??= new Promise<boolean>((resolve) => {
      this.#answer = resolve;
    });
    this.#tell();
    return this.#asked;
  }

  readonly answer = (confirmed: boolean): void => {
    this.#answer?.(confirmed);
    this.#answer = null;
    this.#asked = null;
    this.#tell();
  };

  readonly asked = (): boolean => this.#asked !== null;

  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  #tell(): void {
    for (const watcher of this.#watchers) watcher();
  }
}
