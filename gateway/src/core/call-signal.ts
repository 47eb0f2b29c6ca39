/** Tells that whoever asked has gone. The runtime's `AbortSignal` is one; `LeaveSignal` is one that costs nothing to make. */
export interface CallSignal {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void, options?: { readonly once: true }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** One for a call. Each listener hears of the end once. */
export class LeaveSignal implements CallSignal {
  aborted = false;
  /** Nearly always there is one. */
  #listener: (() => void) | null = null;
  #others: Set<() => void> | null = null;

  addEventListener(_type: "abort", listener: () => void): void {
    if (this.#listener === null || this.#listener === listener) this.#listener = listener;
    else {
      this.#others ??= new Set();
      this.#others.add(listener);
    }
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    if (this.#listener === listener) this.#listener = null;
    else this.#others?.delete(listener);
  }

  abort(): void {
    if (this.aborted) return;
    this.aborted = true;
    const first = this.#listener;
    const others = this.#others;
    this.#listener = null;
    this.#others = null;
    first?.();
    if (others !== null) for (const other of others) other();
  }
}

/** The runtime's own, for whoever takes no other. */
export function abortSignalOf(signal: CallSignal): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  const controller = new AbortController();
  if (signal.aborted) controller.abort();
  else signal.addEventListener("abort", () => controller.abort(), { once: true });
  return controller.signal;
}
