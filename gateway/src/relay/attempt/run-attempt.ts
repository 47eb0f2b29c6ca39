import { asFailure, type CallSignal, Failure, type Provider } from "#core/index.ts";
import type { Call, Delivery, RelayDependencies } from "../call.ts";
import { AttemptEntry } from "./attempt-entry.ts";
import type { AttemptParts } from "./call-tally.ts";

export interface BegunAttempt extends AttemptParts {
  readonly entry: AttemptEntry;
}

/** One of the two is called, once. Before `onFailure` the attempt's entry is settled; the failure says what may be tried next. */
export interface AttemptListener {
  onDelivery(delivery: Delivery): void;
  onFailure(failure: Failure): void;
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
    if (waitsForDisk(dependencies)) await dependencies.journal.synced();
    const delivery = await work(entry, own?.signal ?? call.signal);
    // A stream may last long, and its request is not needed any more.
    if (call.body instanceof Uint8Array) call.body = null;
    return delivery;
  } catch (thrown) {
    throw endedBy(call, entry, thrown);
  } finally {
    if (own !== null) call.signal.removeEventListener("abort", gone);
  }
}

/** Settles an attempt that failed before an answer began. */
export function endedBy({ signal }: Call, entry: AttemptEntry, thrown: unknown): Failure {
  const failure = asFailure(thrown);
  if (!signal.aborted) return entry.fail(failure);
  const { arrival } = failure;
  return entry.fail(new Failure("client_closed", "The caller went away.", { arrival, cause: thrown }));
}

/** Whether the intent of an attempt must be on disk before it is sent. */
export function waitsForDisk({ configSnapshot }: Pick<RelayDependencies, "configSnapshot">): boolean {
  const durability = configSnapshot().settings["ledger.durability"];
  return durability === "strict" || durability === "remote";
}

/** What the upstream finishes in any case is read to its end: it has to be paid for. */
export function drains({ facts }: Call, { disconnect }: Provider): boolean {
  return facts.background === true || disconnect === "drain";
}

export function beginEntry(parts: AttemptParts): AttemptEntry {
  try {
    return new AttemptEntry(parts);
  } catch (thrown) {
    parts.selection.end("cancelled", 0);
    throw thrown;
  }
}
