import { bounds, sleep } from "#core/index.ts";
import type { Clock, KeptLease, Leadership } from "#ports/index.ts";
import { CannotStart } from "./cannot-start.ts";

/** Does at a start what each process does, one after the other. Waits for its turn, but not for ever. */
export async function inTurn<Result>(
  { leadership, clock }: { readonly leadership: Leadership; readonly clock: Clock },
  name: string,
  work: (lease: KeptLease) => Promise<Result>,
): Promise<Result> {
  const endMs = clock.monotonic() + bounds.startTurnMs;
  while (clock.monotonic() < endMs) {
    const done = await leadership.once(name, work);
    if (done !== null) return done.result;
    await sleep(clock, bounds.startTurnLookMs, null);
  }
  throw new CannotStart(`Another gateway has been at "${name}" for ${bounds.startTurnMs / 1_000} s; start again.`);
}
