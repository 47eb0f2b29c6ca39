import type { CallSignal } from "#core/index.ts";

/**
 * The caller's going away ends what is sent for it. Where the upstream is to be let finish, that holds only until an
 * answer has begun: from then on the stream itself decides.
 */
export function signalUntilAnswered(
  caller: CallSignal,
  drains: boolean,
): { readonly signal: CallSignal; readonly answered: () => void } {
  if (!drains) return { signal: caller, answered: nothing };
  const own = new AbortController();
  const gone = (): void => own.abort();
  if (caller.aborted) own.abort();
  else caller.addEventListener("abort", gone, { once: true });
  return { signal: own.signal, answered: () => caller.removeEventListener("abort", gone) };
}

const nothing = (): void => {};
