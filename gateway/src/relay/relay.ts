import { asFailure, type Deployment, Failure, failureTable, refusedModel } from "#core/index.ts";
import type { Dialect, RequestFacts } from "#protocols/index.ts";
import { providerKind } from "#providers/index.ts";
import type { Plan, PlanStory, Wishes } from "#routing/index.ts";
import { AccountTokens } from "./account-tokens.ts";
import { refusalHeaders, standingHeaders } from "./answer-headers.ts";
import { openAttempt } from "./attempt.ts";
import { callFields } from "./attempt-entry.ts";
import { BackgroundBills } from "./background-bills.ts";
import type { Call, CallResult, Refusal, Speech } from "./call.ts";
import { CallTally } from "./call-tally.ts";
import { UsageForecast } from "./estimate.ts";
import { explainCall, explanationOf } from "./explained.ts";
import type { RelayHouse, RelayOptions } from "./house.ts";
import { Keepers } from "./keepers.ts";
import { askKeeper } from "./kept-answers.ts";
import type { KeptCall } from "./kept-call.ts";
import { LiveStreams } from "./live-streams.ts";
import { ObjectOwners } from "./object-owners.ts";
import { type PassedCall, passThrough } from "./pass-through.ts";
import { PassedEstimate } from "./passed-estimate.ts";
import { dialectOf, type PassedAsk, type PassedPlace, passedPlace } from "./passed-place.ts";
import { type PassedPrice, passedPrice } from "./passed-price.ts";
import { wayOf } from "./way.ts";
import { CallEstimate } from "./worst-case.ts";

/** The walk of one call: plan, admit, try until an answer has begun, settle. */
export class Relay {
  readonly #house: RelayHouse;

  constructor(options: RelayOptions) {
    this.#house = {
      ...options,
      forecast: new UsageForecast(),
      live: new LiveStreams(),
      keepers: new Keepers(options.ledgerStore),
      owners: new ObjectOwners(),
      tokens: new AccountTokens(options.transport, options.clock),
      bills: new BackgroundBills(options),
    };
  }

  get liveStreams(): number {
    return this.#house.live.size;
  }

  /** Ends what is still streaming, each with an error in its caller's dialect. */
  abortStreams(failure: Failure): void {
    this.#house.live.abortAll(failure);
  }

  async run(call: Call): Promise<CallResult> {
    const { router, admission, forecast } = this.#house;
    const model = call.models[0];
    if (model === undefined) return this.refuse(call, new Failure("model_not_found", "The model does not exist."));
    let tally: CallTally;
    let wishes: Wishes | null = null;
    let plan: Plan | null = null;
    try {
      const { continues } = call.facts;
      wishes = continues === null ? this.#wishes(call) : await this.#bound(call, continues);
      const planned = router.plan(call.models, wishes);
      plan = planned;
      const admitted = admission.admit(call.principal, new CallEstimate(forecast, call, model));
      const permit = admitted instanceof Promise ? await admitted : admitted;
      tally = new CallTally(permit, () => {
        discard(call);
        explainCall(this.#house, call, planned, tally);
      });
    } catch (thrown) {
      const failure = asFailure(thrown);
      const story = (): PlanStory => plan?.explain() ?? this.#noPlan(call, wishes);
      this.#explainRefusal(call, failure, story);
      this.#refused(call, failure);
      return { failure, headers: await this.#limitHeaders(call, failure) };
    }
    let failure: Failure | null = null;
    let trouble: Failure | null = null;
    for (;;) {
      const pick = plan.next(failure);
      if (pick === null) break;
      try {
        if (pick.waitMs > 0) await this.#wait(pick.waitMs, tally, call.signal);
      } catch (thrown) {
        failure = asFailure(thrown);
        pick.end("cancelled", 0);
        break;
      }
      try {
        return await openAttempt(this.#house, call, pick, tally);
      } catch (thrown) {
        failure = asFailure(thrown);
        if (failure.code === "internal_error") this.#report(call, failure);
        if (failure.unwell) trouble ??= failure;
      }
    }
    const told =
      (refusedByOneOnly(failure) ? (trouble ?? failure) : failure) ??
      new Failure("no_deployment_available", "No deployment can take the call now.");
    if (tally.attempts === 0 && told.code !== "client_closed") tally.refusal = told;
    tally.end();
    if (tally.attempts === 0) this.#refused(call, told);
    return { failure: told, headers: refusalHeaders(call.speech.dialect, tally, this.#house.clock.now()) };
  }

  /** Where a call for a provider's own API goes. Throws the Failure of one that is not passed on. */
  passedPlace(ask: PassedAsk, speeches: Readonly<Record<string, Speech>>): PassedPlace {
    return passedPlace(this.#house, ask, speeches);
  }

  /** How callers of that provider's own API are told of a failure; null where there is none. */
  passedDialect(providerId: string): Dialect | null {
    const kind = providerKind(this.#house.catalog().providers.get(providerId)?.kind ?? "");
    return kind === null ? null : dialectOf(kind);
  }

  /** What such a call is booked by. `facts` null: its body is not understood. */
  passedPrice(place: PassedPlace, facts: RequestFacts | null): PassedPrice {
    return passedPrice(this.#house.catalog(), place, facts);
  }

  /** A call for a provider's own API: admitted, sent once, settled. */
  async pass(passed: PassedCall): Promise<CallResult> {
    const { call, price } = passed;
    // What is in memory goes with the call's body: a stream's end must not keep it.
    const spooled = passed.body instanceof Uint8Array ? null : passed.body;
    const discardAll = (): void => {
      discard(call);
      spooled?.discard();
    };
    let tally: CallTally;
    try {
      const estimate = new PassedEstimate(this.#house.forecast, call, price, passed.isRead);
      const admitted = this.#house.admission.admit(call.principal, estimate);
      tally = new CallTally(admitted instanceof Promise ? await admitted : admitted, () => {
        discardAll();
        this.#explainPassed(call, tally);
      });
    } catch (thrown) {
      const failure = asFailure(thrown);
      discardAll();
      return { ...this.refuse(call, failure), headers: await this.#limitHeaders(call, failure) };
    }
    try {
      return await passThrough(this.#house, passed, tally);
    } catch (thrown) {
      const failure = asFailure(thrown);
      if (failure.code === "internal_error") this.#report(call, failure);
      tally.end();
      return { failure, headers: refusalHeaders(call.speech.dialect, tally, this.#house.clock.now()) };
    }
  }

  /** A call about an answer that an upstream keeps. */
  ask(call: KeptCall): Promise<CallResult> {
    return askKeeper(this.#house, call);
  }

  /**
   * Records a call that was refused before any attempt; the failure is the caller's answer. `why`: what may be said to
   * whoever looks at the request beyond what its caller is told.
   */
  refuse(call: Call, failure: Failure, why: string = failure.message): Refusal {
    this.#explainRefusal(call, failure, () => nothingPlanned, why);
    this.#refused(call, failure);
    return { failure, headers: {} };
  }

  /**
   * The refusal by limits of a call that is not read yet, when they would refuse it whatever it asks; else null. What is
   * admitted is decided when it has been read.
   */
  async refusedUnread(call: Call): Promise<Refusal | null> {
    try {
      await this.#house.admission.check(call.principal);
      return null;
    } catch (thrown) {
      const failure = asFailure(thrown);
      return { ...this.refuse(call, failure), headers: await this.#limitHeaders(call, failure) };
    }
  }

  #refused(call: Call, failure: Failure): void {
    discard(call);
    if (failure.code === "internal_error") this.#report(call, failure);
    this.#house.recorder.refuse(
      { ...callFields(call), model: refusedModel(call.models[0]?.name, call.facts.model) },
      failure.code,
      failureTable[failure.code].status,
      this.#house.clock.monotonic() - call.startedMs,
    );
  }

  /** A caller that went away was not refused. */
  #explainRefusal(call: Call, failure: Failure, story: () => PlanStory, why: string = failure.message): void {
    if (failure.code === "client_closed") return;
    this.#house.explainer.explain({
      requestId: call.requestId,
      workspaceId: call.principal.workspace.id,
      matters: true,
      explanation: () => explanationOf(story(), failure, [], why),
    });
  }

  /** There was one way to go: only what failed on it is worth a word. */
  #explainPassed(call: Call, { failures }: CallTally): void {
    if (failures === null) return;
    this.#house.explainer.explain({
      requestId: call.requestId,
      workspaceId: call.principal.workspace.id,
      matters: true,
      explanation: () => explanationOf(nothingPlanned, null, failures),
    });
  }

  #noPlan(call: Call, wishes: Wishes | null): PlanStory {
    return wishes === null ? nothingPlanned : { places: this.#house.router.leftOut(call.models, wishes), walk: [] };
  }

  #wishes(call: Call): Wishes {
    return { suits: suitsOf(call.speech), affinity: call.facts.affinity };
  }

  /**
   * What the call continues is known to one account only, which other workspaces may share: what this workspace did not
   * make does not exist for it. Conversations are made beside the gateway, so nobody here owns one and each account may
   * be asked.
   */
  async #bound(call: Call, continues: string): Promise<Wishes> {
    if (continues.startsWith("conv_")) return this.#wishes(call);
    const keeper = await this.#house.keepers.find(call.principal.workspace.id, continues);
    if (keeper !== null) return { ...this.#wishes(call), provider: keeper.provider };
    throw new Failure(
      "invalid_request",
      `There is no response with the id "${continues.slice(0, 128)}" to go on from.`,
      {
        param: "previous_response_id",
      },
    );
  }

  async #limitHeaders(call: Call, failure: Failure): Promise<Record<string, string>> {
    if (failure.code !== "rate_limit_exceeded" && failure.code !== "budget_exceeded") return {};
    const { admission, clock } = this.#house;
    return standingHeaders(call.speech.dialect, await admission.standing(call.principal), clock.now());
  }

  #wait(ms: number, tally: CallTally, signal: AbortSignal): Promise<void> {
    tally.awayMs += ms;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const stop = this.#house.clock.after(ms, () => {
      signal.removeEventListener("abort", gone);
      resolve();
    });
    const gone = (): void => {
      stop();
      reject(new Failure("client_closed", "The caller went away."));
    };
    if (signal.aborted) gone();
    else signal.addEventListener("abort", gone, { once: true });
    return promise;
  }

  #report(call: Call, failure: Failure): void {
    this.#house.observer.log("error", "A call met an unexpected error.", {
      requestId: call.requestId,
      error: failure.cause,
    });
  }
}

/**
 * A refusal that holds for one account only (a model it has not, a seal it cannot read). When another account would have
 * served and was unwell, the caller should hear of that, and try again.
 */
function refusedByOneOnly(failure: Failure | null): boolean {
  return (
    failure !== null && failure.retry === "other" && failure.upstream !== undefined && failure.upstream.status < 500
  );
}

/** One function for each speech, so that the router can remember what suits it. */
function suitsOf(speech: Speech): (deployment: Deployment) => boolean {
  let suits = suiting.get(speech);
  if (suits === undefined) {
    suits = (deployment) => wayOf(deployment, speech) !== null;
    suiting.set(speech, suits);
  }
  return suits;
}

const nothingPlanned: PlanStory = { places: [], walk: [] };

const suiting = new WeakMap<Speech, (deployment: Deployment) => boolean>();

/** Bodies that lie elsewhere are let go of when nothing can be sent any more. */
function discard(call: Call): void {
  if (call.body !== null && !(call.body instanceof Uint8Array)) call.body.discard();
  call.body = null;
}
