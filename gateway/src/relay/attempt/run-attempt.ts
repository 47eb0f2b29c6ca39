import { asFailure, type CallSignal, Failure, type Provider } from "#core/index.ts";
import type { AnswerListener, OutboundAnswer } from "#ports/index.ts";
import type { Selection } from "#routing/index.ts";
import type { Call, Delivery, RelayDependencies } from "../call.ts";
import { Warnings } from "../translation/translator.ts";
import { AttemptEntry } from "./attempt-entry.ts";
import type { AttemptParts, CallTally } from "./call-tally.ts";
import type { LaneMatch } from "./lane-match.ts";

/** One of the two is called, once. Before `onFailure` the attempt's entry is settled; the failure says what may be tried next. */
export interface AttemptListener {
  onDelivery(delivery: Delivery): void;
  onFailure(failure: Failure): void;
}

/** One attempt at one deployment: its intent is written, the request sent, and the answer delivered. */
export abstract class RunningAttempt implements AttemptParts, AnswerListener {
  readonly dependencies: RelayDependencies;
  readonly call: Call;
  readonly selection: Selection;
  readonly match: LaneMatch;
  readonly tally: CallTally;
  readonly warnings = new Warnings();
  /** Set by `start`. */
  entry!: AttemptEntry;
  readonly #listener: AttemptListener;
  /** Set if the upstream may finish without its caller: then the caller's signal counts only until an answer has begun. */
  #own: Pick<AbortController, "signal" | "abort"> | null = null;
  #isEnded = false;

  constructor(
    dependencies: RelayDependencies,
    call: Call,
    selection: Selection,
    match: LaneMatch,
    tally: CallTally,
    listener: AttemptListener,
  ) {
    this.dependencies = dependencies;
    this.call = call;
    this.selection = selection;
    this.match = match;
    this.tally = tally;
    this.#listener = listener;
    if (call.overBudget !== undefined) this.warnings.add(call.overBudget);
  }

  /** Returns a promise only if it has to wait, for a large body or a token, so that a common call is sent at once. */
  protected abstract send(signal: CallSignal): Promise<void> | undefined;

  /** Resolves once an answer has begun. */
  protected abstract deliver(answer: OutboundAnswer): Delivery | Promise<Delivery>;

  start(): void {
    const { dependencies, call, selection } = this;
    this.tally.attempts++;
    try {
      this.entry = new AttemptEntry(this);
    } catch (thrown) {
      selection.end("cancelled", 0);
      this.#listener.onFailure(asFailure(thrown));
      return;
    }
    if (drains(call, selection.deployment.provider)) this.#own = followed(call.signal);
    if (waitsForDisk(dependencies)) this.#sendOnceSynced();
    else this.#send();
  }

  #sendOnceSynced(): void {
    this.dependencies.journal.synced().then(
      () => this.#send(),
      (thrown: unknown) => this.#onThrown(thrown),
    );
  }

  onAnswer(answer: OutboundAnswer): void {
    let delivery: Delivery | Promise<Delivery>;
    try {
      delivery = this.deliver(answer);
    } catch (thrown) {
      this.#onThrown(thrown);
      return;
    }
    if (delivery instanceof Promise) this.#awaitDelivery(delivery);
    else this.#onDelivery(delivery);
  }

  #awaitDelivery(delivery: Promise<Delivery>): void {
    delivery.then(
      (later) => this.#onDelivery(later),
      (thrown: unknown) => this.#onThrown(thrown),
    );
  }

  onFailure(failure: Failure): void {
    this.#onThrown(failure);
  }

  #send(): void {
    try {
      const sending = this.send(this.#own?.signal ?? this.call.signal);
      if (sending !== undefined) this.#awaitSending(sending);
    } catch (thrown) {
      this.#onThrown(thrown);
    }
  }

  #awaitSending(sending: Promise<void>): void {
    sending.catch((thrown) => this.#onThrown(thrown));
  }

  #onDelivery(delivery: Delivery): void {
    this.#end();
    // A stream may last long, and its request is not needed any more.
    if (this.call.body instanceof Uint8Array) this.call.body = null;
    this.#listener.onDelivery(delivery);
  }

  #onThrown(thrown: unknown): void {
    if (this.#isEnded) return;
    this.#end();
    const failure = this.call.signal.aborted ? callerGone(thrown) : asFailure(thrown);
    this.#listener.onFailure(settleFailed(this.entry, failure));
  }

  #end(): void {
    this.#isEnded = true;
    if (this.#own !== null) this.call.signal.removeEventListener("abort", this.#own.abort);
  }
}

/** A signal that aborts with another one, until its listener is removed. */
function followed(signal: CallSignal): Pick<AbortController, "signal" | "abort"> {
  const own = new AbortController();
  const abort = (): void => own.abort();
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  return { signal: own.signal, abort };
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

/** Whether an answer is read to its end after the caller has gone, because the upstream finishes it and charges for it in any case. */
export function drains({ facts }: Call, { disconnect }: Provider): boolean {
  return facts.background === true || disconnect === "drain";
}
