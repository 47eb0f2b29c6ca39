import {
  asFailure,
  bounds,
  type CallSession,
  Failure,
  type HeldMemory,
  isBlocked,
  isSessionId,
  sleep,
} from "#core/index.ts";
import type { Permit } from "#limits/index.ts";
import { type ConversationSpans, conversationFingerprint, isLongPrompt } from "#protocols/index.ts";
import type { Plan, PlanStory, RoutingConstraints, Selection } from "#routing/index.ts";
import { refusalHeaders } from "./attempt/answer-headers.ts";
import { openAttempt } from "./attempt/attempt.ts";
import { findKeptState } from "./attempt/attempt-objects.ts";
import { CallTally, type TallyOwner } from "./attempt/call-tally.ts";
import { CallEstimate } from "./attempt/hold.ts";
import { canServeOf, serves } from "./attempt/lane-match.ts";
import { callWithFiles, findNamedFiles } from "./attempt/named-files.ts";
import { checkPricedUse } from "./attempt/priced-usage.ts";
import type { AttemptListener } from "./attempt/run-attempt.ts";
import type { Call, CallListener, CallResult, Delivery, RelayDependencies } from "./call.ts";
import { checkNamedFiles } from "./checked-file.ts";
import { discard, explainCall, notAdmitted, recordRefusal, reportUnexpected } from "./refusals.ts";

/**
 * The run of one call:
 *
 * start    what it names is looked up, its plan made, its place in the caller's limits taken; or it is refused
 * attempt  one deployment after the other, in the plan's order
 * end      an answer has begun, or nothing is left to try
 *
 * A common call gets from here to its upstream without a promise.
 */
export class CallRun implements AttemptListener, TallyOwner {
  readonly #dependencies: RelayDependencies;
  readonly #call: Call;
  readonly #listener: CallListener;
  #estimate: CallEstimate;
  #constraints: RoutingConstraints | null = null;
  #plan: Plan | null = null;
  /** The fingerprint of the conversation, once it was read. */
  #prefix: string | null = null;
  /** Set once it is admitted. */
  #tally!: CallTally;
  #failure: Failure | null = null;
  /** For files inside an attempt's body. */
  #filesMemory: HeldMemory | null = null;
  /** The first failure that is temporary. */
  #passing: Failure | null = null;
  /** Models that used-up budgets have named. */
  #substitutes = 0;
  /** The model for which the first of them serves the call. */
  #overBudget: string | null = null;

  constructor(dependencies: RelayDependencies, call: Call, listener: CallListener) {
    this.#dependencies = dependencies;
    this.#call = call;
    this.#listener = listener;
    this.#estimate = new CallEstimate(dependencies, call, call.models);
  }

  start(): void {
    const call = this.#call;
    let permit: Permit | Promise<Permit>;
    try {
      if (call.models.length === 0) throw new Failure("model_not_found", "The model does not exist.");
      checkPricedUse(call);
      permit = namesKept(call) ? this.#admitKept() : this.#admit();
    } catch (thrown) {
      this.#refuse(thrown);
      return;
    }
    if (permit instanceof Promise) this.#awaitPermit(permit);
    else this.#admitted(permit);
  }

  #awaitPermit(permit: Promise<Permit>): void {
    void permit.then(
      (granted) => this.#admitted(granted),
      (thrown: unknown) => this.#refuse(thrown),
    );
  }

  async #admitKept(): Promise<Permit> {
    await findNamedFiles(this.#dependencies, this.#call);
    await checkNamedFiles(this.#dependencies, this.#call);
    this.#call.kept = await findKeptState(this.#dependencies, this.#call);
    return await this.#admit();
  }

  /** Throws Failure. */
  #admit(): Permit | Promise<Permit> {
    const { router, admission } = this.#dependencies;
    const call = this.#call;
    call.session ??= this.#inferSession();
    this.#constraints = this.#constraintsOf(call);
    this.#plan = router.plan(call.kept?.models ?? call.models, this.#constraints);
    return admission.admit(call.principal, this.#estimate, call.requestId);
  }

  #admitted(permit: Permit): void {
    this.#tally = new CallTally(permit, this.#estimate, this);
    this.#attemptNext(null);
  }

  /** Runs the call with the model that a used-up budget names. False: it names none, or the caller may not use it for this call. */
  #substitute({ reachedLimit }: Failure): boolean {
    const name = reachedLimit?.fallback;
    const call = this.#call;
    if (name === undefined || this.#substitutes >= bounds.budgetFallbacksMax) return false;
    const model = this.#dependencies.configSnapshot().models.get(name);
    const [requested, ...others] = call.models;
    if (model === undefined || isBlocked(model, call.principal)) return false;
    // The plan of a fallback model may lead to other models, which the budget refuses.
    if (requested === model && others.length === 0) return false;
    if (!call.mayCall(name) || !serves([model], call.protocol) || namesKept(call)) return false;
    this.#substitutes++;
    this.#failure = null;
    this.#overBudget ??= requested?.name ?? name;
    if (this.#overBudget !== name) call.overBudget = `model: ${this.#overBudget} is over its budget, served by ${name}`;
    call.models = [model];
    this.#estimate.end();
    this.#estimate = new CallEstimate(this.#dependencies, call, call.models);
    this.start();
    return true;
  }

  /** The refusal of a budget names a fallback model that was deleted. */
  #named(failure: unknown): unknown {
    const name = failure instanceof Failure ? failure.reachedLimit?.fallback : undefined;
    if (name === undefined || this.#dependencies.configSnapshot().models.has(name)) return failure;
    const { message } = failure as Failure;
    return (failure as Failure).with({ message: `${message} Its fallback model "${name}" does not exist.` });
  }

  onOver(): void {
    discard(this.#call);
    this.#filesMemory?.release();
    explainCall(this.#dependencies, this.#call, this.#plan, this.#tally);
  }

  #refuse(thrown: unknown): void {
    if (thrown instanceof Failure && this.#substitute(thrown)) return;
    this.#estimate.end();
    this.#filesMemory?.release();
    const { router } = this.#dependencies;
    const call = this.#call;
    const story = (): PlanStory => {
      if (this.#plan !== null) return this.#plan.explain();
      return { places: this.#constraints === null ? [] : router.leftOut(call.models, this.#constraints), steps: [] };
    };
    const refused = notAdmitted(this.#dependencies, call, this.#named(thrown), story);
    refused.then(
      (refusal) => this.#answer(refusal),
      (error: unknown) => this.#listener.failed(error),
    );
  }

  /** Never throws: it may run inside the transport, which serves other calls, too. */
  #attemptNext(failure: Failure | null): void {
    try {
      const selection = this.#plan?.next(failure) ?? null;
      if (selection === null) this.#end();
      else if (selection.waitMs > 0) this.#watch(this.#attemptLater(selection));
      else if (this.#call.files !== undefined) this.#watch(this.#attemptWithFiles(selection));
      else this.#open(this.#call, selection);
    } catch (thrown) {
      this.#crash(thrown);
    }
  }

  #watch(work: Promise<void>): void {
    work.catch((thrown) => this.#crash(thrown));
  }

  /** Ends the call after an error in our own code. */
  #crash(thrown: unknown): void {
    this.#listener.failed(thrown);
    this.#tally.end();
  }

  #answer(result: CallResult): void {
    try {
      this.#listener.answered(result);
    } catch (thrown) {
      this.#listener.failed(thrown);
    }
  }

  async #attemptLater(selection: Selection): Promise<void> {
    const { signal } = this.#call;
    this.#tally.awayMs += selection.waitMs;
    await sleep(this.#dependencies.clock, selection.waitMs, signal);
    if (signal.aborted) {
      this.#failure = new Failure("client_closed", "The caller went away.");
      selection.end("cancelled", 0);
      this.#end();
    } else if (this.#call.files !== undefined) await this.#attemptWithFiles(selection);
    else this.#open(this.#call, selection);
  }

  #open(call: Call, selection: Selection): void {
    if (call.principal.policies === undefined) openAttempt(this.#dependencies, call, selection, this.#tally, this);
    else this.#enter(call, selection);
  }

  /** Opens the attempt once its money is held on the policies of its model and provider. */
  #enter(call: Call, selection: Selection): void {
    const { principal, tags } = call;
    const { model, deployment } = selection;
    const place = { model: model.name, provider: deployment.provider.id, tags };
    let waits: Promise<void> | undefined;
    try {
      const { admission } = this.#dependencies;
      waits = admission.enter(this.#tally.permit, principal, place, this.#estimate.ofAttempt(model));
    } catch (thrown) {
      this.#notEntered(selection, asFailure(thrown));
      return;
    }
    if (waits === undefined) openAttempt(this.#dependencies, call, selection, this.#tally, this);
    else {
      const open = () => openAttempt(this.#dependencies, call, selection, this.#tally, this);
      this.#watch(waits.then(open, (thrown: unknown) => this.#notEntered(selection, asFailure(thrown))));
    }
  }

  /** A budget of the provider is used up: another one may serve the call. Of the model: the call is over. */
  #notEntered(selection: Selection, failure: Failure): void {
    selection.end("cancelled", 0);
    const { reachedLimit } = failure;
    if (reachedLimit?.isOfProvider === true) {
      this.onFailure(failure.with({ retry: "other", arrival: "unsent" }));
      return;
    }
    this.#failure = failure;
    this.#end();
  }

  /** The account gets its own copies of the files that the call names. */
  async #attemptWithFiles(selection: Selection): Promise<void> {
    let call: Call;
    try {
      this.#filesMemory ??= this.#dependencies.memory.open(this.#call.principal, "request");
      call = await callWithFiles(this.#dependencies, this.#call, selection.deployment, this.#tally, this.#filesMemory);
    } catch (thrown) {
      selection.end("cancelled", 0);
      this.onFailure(asFailure(thrown));
      return;
    }
    this.#open(call, selection);
  }

  onDelivery(delivery: Delivery): void {
    // An attempt with files has another body.
    if (this.#call.files !== undefined) this.#call.body = null;
    this.#filesMemory?.release();
    const { handover } = this.#tally;
    if (handover === null) this.#answer(delivery);
    else this.#answerAfter(handover, delivery);
  }

  /** The money of a background response must be held by its task before its caller knows of it. */
  #answerAfter(handover: Promise<void>, delivery: Delivery): void {
    handover.then(
      () => this.#answer(delivery),
      (thrown: unknown) => this.onFailure(asFailure(thrown)),
    );
  }

  onFailure(failure: Failure): void {
    reportUnexpected(this.#dependencies, this.#call, failure);
    this.#failure = failure;
    if (failure.unhealthy || failure.upstream?.status === 429) this.#passing ??= failure;
    this.#attemptNext(failure);
  }

  /** Nothing is left to try. */
  #end(): void {
    const tally = this.#tally;
    const last = this.#failure;
    const failure =
      (refusedByOneOnly(last) ? (this.#passing ?? last) : last) ??
      new Failure("no_deployment_available", "No deployment can take the call now.");
    if (tally.attempts === 0 && failure.reachedLimit !== undefined) {
      // A policy of its model, or of every provider that could serve it, is used up. The call is refused, or begins anew.
      tally.permit.release();
      this.#refuse(failure);
      return;
    }
    if (tally.attempts === 0 && failure.code !== "client_closed") tally.refusal = failure;
    tally.end();
    if (tally.attempts === 0) recordRefusal(this.#dependencies, this.#call, failure);
    const headers = refusalHeaders(this.#call.protocol.dialect, tally, this.#dependencies.clock.now());
    this.#answer({ failure, headers });
  }

  /** If the caller names no session: by the response that the call continues, else by the beginning of a long prompt. */
  #inferSession(): CallSession | null {
    const { facts, kept, requestId } = this.#call;
    const { continues, conversation, storesAs } = facts;
    if (continues !== null) {
      const id = kept?.found.get(continues.id)?.session ?? continues.id;
      return isSessionId(id) ? { id, source: "chain" } : null;
    }
    const prefix = conversation !== undefined && isLongPrompt(conversation) ? this.#readPrefix(conversation) : null;
    if (prefix !== null) return { id: `prefix_${prefix}`, source: "prefix" };
    // The answer may be continued.
    return storesAs === null ? null : { id: requestId, source: "chain" };
  }

  #readPrefix(conversation: ConversationSpans): string | null {
    const { body } = this.#call;
    if (!(body instanceof Uint8Array)) return null;
    this.#prefix ??= conversationFingerprint(body, conversation);
    return this.#prefix;
  }

  #constraintsOf(call: Call): RoutingConstraints {
    const { protocol, facts, kept } = call;
    // Calls that name the same file prefer the same account, which has a copy then.
    const affinity = facts.affinity ?? call.files?.values().next().value?.id ?? null;
    const constraints = { canServe: canServeOf(protocol), affinity, provider: kept?.provider ?? null };
    const { conversation } = facts;
    if (affinity !== null || conversation === undefined || !(call.body instanceof Uint8Array)) return constraints;
    if (!this.#dependencies.router.hasEquals(call.models, constraints)) return constraints;
    return { ...constraints, affinity: this.#readPrefix(conversation) };
  }
}

export function namesKept({ facts: { continues, objects } }: Call): boolean {
  return continues !== null || (objects !== undefined && objects.length > 0);
}

/**
 * A refusal that holds for one account only (a model that it lacks, a seal that it cannot read). When another account was
 * unhealthy or at its limit, the caller should get that failure, and try again.
 */
function refusedByOneOnly(failure: Failure | null): boolean {
  return failure?.retry === "other" && failure.upstream !== undefined && failure.upstream.status < 500;
}
