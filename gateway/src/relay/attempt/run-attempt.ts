import { asFailure, type CallSignal, Failure, type Provider } from "#core/index.ts";
import type { AnswerListener, OutboundAnswer } from "#ports/index.ts";
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

/** What differs between attempts. A step waits only where it must (for a large body, a token), so that a common call is sent at once. */
export interface AttemptSteps {
  send(attempt: BegunAttempt, signal: CallSignal, listener: AnswerListener): Promise<void> | undefined;
  /** Resolves once an answer has begun. */
  deliver(attempt: BegunAttempt, answer: OutboundAnswer): Delivery | Promise<Delivery>;
}

/** One attempt: written ahead, sent, and answered. */
export function runAttempt(parts: AttemptParts, steps: AttemptSteps, listener: AttemptListener): void {
  const { dependencies, call, selection, tally } = parts;
  tally.attempts++;
  let entry: AttemptEntry;
  try {
    entry = new AttemptEntry(parts);
  } catch (thrown) {
    selection.end("cancelled", 0);
    listener.onFailure(asFailure(thrown));
    return;
  }
  const attempt: BegunAttempt = { ...parts, entry };
  // Where the upstream may finish, the caller's signal holds only until an answer has begun.
  const own = drains(call, selection.deployment.provider) ? new AbortController() : null;
  const gone = (): void => own?.abort();
  if (call.signal.aborted) gone();
  else if (own !== null) call.signal.addEventListener("abort", gone, { once: true });
  let isEnded = false;
  const end = (): void => {
    isEnded = true;
    if (own !== null) call.signal.removeEventListener("abort", gone);
  };
  const onDelivery = (delivery: Delivery): void => {
    end();
    // A stream may last long, and its request is not needed any more.
    if (call.body instanceof Uint8Array) call.body = null;
    listener.onDelivery(delivery);
  };
  const onFailure = (thrown: unknown): void => {
    if (isEnded) return;
    end();
    listener.onFailure(settleFailed(entry, call.signal.aborted ? callerGone(thrown) : asFailure(thrown)));
  };
  const onAnswer = (answer: OutboundAnswer): void => {
    let delivery: Delivery | Promise<Delivery>;
    try {
      delivery = steps.deliver(attempt, answer);
    } catch (thrown) {
      onFailure(thrown);
      return;
    }
    if (delivery instanceof Promise) delivery.then(onDelivery, onFailure);
    else onDelivery(delivery);
  };
  const send = (): void => {
    try {
      steps.send(attempt, own?.signal ?? call.signal, { onAnswer, onFailure })?.catch(onFailure);
    } catch (thrown) {
      onFailure(thrown);
    }
  };
  if (waitsForDisk(dependencies)) dependencies.journal.synced().then(send, onFailure);
  else send();
}

/** An error while settling must not keep the call from its end. */
function settleFailed(entry: AttemptEntry, failure: Failure): Failure {
  try {
    return entry.fail(failure);
  } catch (thrown) {
    return asFailure(thrown);
  }
}

function callerGone(thrown: unknown): Failure {
  const { arrival } = asFailure(thrown);
  return new Failure("client_closed", "The caller went away.", { arrival, cause: thrown });
}

/** Whether the intent of an attempt must be on disk before it is sent. */
function waitsForDisk({ configSnapshot }: Pick<RelayDependencies, "configSnapshot">): boolean {
  const durability = configSnapshot().settings["ledger.durability"];
  return durability === "strict" || durability === "remote";
}

/** What the upstream finishes in any case is read to its end: it has to be paid for. */
export function drains({ facts }: Call, { disconnect }: Provider): boolean {
  return facts.background === true || disconnect === "drain";
}
