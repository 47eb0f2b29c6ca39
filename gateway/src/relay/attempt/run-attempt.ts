import { asFailure, type CallSignal, Failure, type Provider } from "#core/index.ts";
import type { Call, Delivery } from "../call.ts";
import { AttemptEntry } from "./attempt-entry.ts";
import type { AttemptParts } from "./call-tally.ts";

export interface BegunAttempt extends AttemptParts {
  readonly entry: AttemptEntry;
}

/**
 * One attempt with its ledger entry. Resolves once an answer has begun; until then it throws a Failure that says what may be tried
 * next, with the entry settled.
 */
export async function runAttempt(
  parts: AttemptParts,
  work: (entry: AttemptEntry, signal: CallSignal) => Promise<Delivery>,
): Promise<Delivery> {
  const { dependencies, call, selection, tally } = parts;
  tally.attempts++;
  const entry = beginEntry(parts);
  // Where the upstream may finish, the caller's signal holds only until an answer has begun.
  const own = drains(call, selection.deployment.provider) ? new AbortController() : null;
  const gone = (): void => own?.abort();
  if (own !== null) call.signal.addEventListener("abort", gone, { once: true });
  if (call.signal.aborted) gone();
  try {
    const durability = dependencies.configSnapshot().settings["ledger.durability"];
    if (durability === "strict" || durability === "remote") await dependencies.journal.synced();
    const delivery = await work(entry, own?.signal ?? call.signal);
    // A stream may last long, and its request is not needed any more.
    if (call.body instanceof Uint8Array) call.body = null;
    return delivery;
  } catch (thrown) {
    const failure = asFailure(thrown);
    if (!call.signal.aborted) throw entry.fail(failure);
    const { arrival } = failure;
    throw entry.fail(new Failure("client_closed", "The caller went away.", { arrival, cause: thrown }));
  } finally {
    if (own !== null) call.signal.removeEventListener("abort", gone);
  }
}

/** What the upstream finishes in any case is read to its end: it has to be paid for. */
export function drains({ facts }: Call, { disconnect }: Provider): boolean {
  return facts.background === true || disconnect === "drain";
}

function beginEntry(parts: AttemptParts): AttemptEntry {
  try {
    return new AttemptEntry(parts);
  } catch (thrown) {
    parts.selection.end("cancelled", 0);
    throw thrown;
  }
}
