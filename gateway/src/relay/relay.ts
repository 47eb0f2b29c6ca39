import type { Explanation } from "@sluice/contract/console";
import { remarkSentence } from "@sluice/contract/words";
import {
  asFailure,
  bounds,
  type Deployment,
  Failure,
  oncePerObject,
  onlyCounts,
  refusedModel,
  sleep,
} from "#core/index.ts";
import { conversationFingerprint, type Dialect } from "#protocols/index.ts";
import { providerKind } from "#providers/index.ts";
import { type Plan, type PlanStory, placeSentence, type RoutingConstraints } from "#routing/index.ts";
import { addRateHeaders, agentsFailure, refusalHeaders, refusedCapHeaders } from "./attempt/answer-headers.ts";
import { openAttempt } from "./attempt/attempt.ts";
import { CallTally, type FailedAttempt } from "./attempt/call-tally.ts";
import { UsageForecast } from "./attempt/estimate.ts";
import { CallEstimate } from "./attempt/hold.ts";
import { findKeptState, lookUpKeptState } from "./attempt/kept-objects.ts";
import { matchLane } from "./attempt/lane-match.ts";
import { checkPricedUse } from "./attempt/priced-usage.ts";
import {
  type Call,
  type CallResult,
  callFields,
  type EndpointProtocol,
  type Refusal,
  type RelayDependencies,
  type RelayOptions,
} from "./call.ts";
import { passThrough } from "./pass-through/pass-through.ts";
import {
  dialectOf,
  type PassedAsk,
  type PassedCall,
  PassedEstimate,
  type PassedPlace,
  passedPlace,
} from "./pass-through/passed-call.ts";
import { checkPassedObjects, checkPathObjects, endedResponse } from "./pass-through/passed-objects.ts";
import { askResponseOwner, type StoredResponseCall } from "./stored-responses/stored-responses.ts";
import { UpstreamObjects } from "./upstream-objects.ts";

export class Relay {
  readonly #dependencies: RelayDependencies;

  constructor(options: RelayOptions) {
    this.#dependencies = {
      ...options,
      forecast: new UsageForecast(),
      live: new Set(),
      upstreamObjects: new UpstreamObjects(options),
    };
  }

  get liveStreams(): number {
    return this.#dependencies.live.size;
  }

  /** Ends every stream with an error in its caller's dialect. */
  abortStreams(failure: Failure): void {
    for (const stream of [...this.#dependencies.live]) stream.abort(failure);
  }

  async run(call: Call): Promise<CallResult> {
    const { router, admission, clock } = this.#dependencies;
    const model = call.models[0];
    if (model === undefined) return this.refuse(call, new Failure("model_not_found", "The model does not exist."));
    const estimate = new CallEstimate(this.#dependencies, call, call.models);
    let tally: CallTally;
    let constraints: RoutingConstraints | null = null;
    let plan: Plan | null = null;
    try {
      checkPricedUse(call);
      if (namesKept(call)) call.kept = await findKeptState(this.#dependencies, call);
      constraints = this.#constraints(call);
      plan = router.plan(call.kept?.models ?? call.models, constraints);
      const admitted = admission.admit(call.principal, estimate, call.requestId);
      const permit = admitted instanceof Promise ? await admitted : admitted;
      tally = new CallTally(permit, estimate, () => {
        discard(call);
        explainCall(this.#dependencies, call, plan, tally);
      });
    } catch (thrown) {
      estimate.end();
      const places = (): PlanStory["places"] => (constraints === null ? [] : router.leftOut(call.models, constraints));
      return this.#notAdmitted(call, thrown, () => plan?.explain() ?? { places: places(), steps: [] });
    }
    let failure: Failure | null = null;
    let passing: Failure | null = null;
    for (let selection = plan.next(null); selection !== null; selection = plan.next(failure)) {
      if (selection.waitMs > 0) {
        tally.awayMs += selection.waitMs;
        await sleep(clock, selection.waitMs, call.signal);
        if (call.signal.aborted) {
          failure = new Failure("client_closed", "The caller went away.");
          selection.end("cancelled", 0);
          break;
        }
      }
      try {
        const delivery = await openAttempt(this.#dependencies, call, selection, tally);
        // The money of a background response must be held by its task before its caller knows of it.
        if (tally.handover !== null) await tally.handover;
        return delivery;
      } catch (thrown) {
        failure = asFailure(thrown);
        if (failure.code === "internal_error") this.#report(call, failure);
        if (failure.unhealthy || failure.upstream?.status === 429) passing ??= failure;
      }
    }
    const told =
      (refusedByOneOnly(failure) ? (passing ?? failure) : failure) ??
      new Failure("no_deployment_available", "No deployment can take the call now.");
    if (tally.attempts === 0 && told.code !== "client_closed") tally.refusal = told;
    tally.end();
    if (tally.attempts === 0) this.#refused(call, told);
    return { failure: told, headers: refusalHeaders(call.protocol.dialect, tally, clock.now()) };
  }

  /** Where a call for a provider's own API goes. Throws Failure. */
  passedPlace(ask: PassedAsk, endpointProtocols: Readonly<Record<string, EndpointProtocol>>): PassedPlace {
    return passedPlace(this.#dependencies, ask, endpointProtocols);
  }

  /** The dialect of errors of that provider's own API; null: there is no such provider. */
  passedDialect(providerId: string): Dialect | null {
    const kind = providerKind(this.#dependencies.configSnapshot().providers.get(providerId)?.kind ?? "");
    return kind === null ? null : dialectOf(kind);
  }

  /** A call for a provider's own API: admitted, sent once, settled. */
  async pass(passed: PassedCall): Promise<CallResult> {
    const { call, price } = passed;
    // The closure must not keep bytes in memory until the stream's end.
    const spooled = passed.body instanceof Uint8Array ? null : passed.body;
    const discardAll = (): void => {
      discard(call);
      spooled?.discard();
    };
    const estimate = new PassedEstimate(this.#dependencies, call, price, passed.isRead);
    let tally: CallTally;
    try {
      if (passed.isRead && namesKept(call)) call.kept = await lookUpKeptState(this.#dependencies, call);
      await checkPassedObjects(this.#dependencies, passed);
      const permit = await this.#dependencies.admission.admit(call.principal, estimate, call.requestId);
      tally = new CallTally(permit, estimate, () => {
        discardAll();
        explainCall(this.#dependencies, call, null, tally);
      });
    } catch (thrown) {
      estimate.end();
      discardAll();
      return this.#notAdmitted(call, thrown);
    }
    try {
      const ended = endedResponse(passed);
      if (ended !== null) {
        await this.#dependencies.background().refresh(call.principal.workspace.id, ended, call.signal);
      }
      const delivery = await passThrough(this.#dependencies, passed, tally);
      if (tally.handover !== null) await tally.handover;
      return delivery;
    } catch (thrown) {
      const failure = asFailure(thrown);
      if (failure.code === "internal_error") this.#report(call, failure);
      tally.end();
      return { failure, headers: refusalHeaders(call.protocol.dialect, tally, this.#dependencies.clock.now()) };
    }
  }

  ask(call: StoredResponseCall): Promise<CallResult> {
    return askResponseOwner(this.#dependencies, call);
  }

  /** Records a call that is refused before any attempt. `why`: the message for admins, where the caller gets another one. */
  refuse(call: Call, failure: Failure, why?: string): Refusal {
    explainRefusal(this.#dependencies, call, failure, { why });
    this.#refused(call, failure);
    return { failure, headers: {} };
  }

  /**
   * The refusal of a call that its limits, or at a provider's own API the objects of its path, do not allow whatever its body says; else
   * null. Nothing is reserved.
   */
  async refusedUnread(call: Call, place: PassedPlace | null = null): Promise<Refusal | null> {
    try {
      this.#dependencies.admission.check(call.principal, onlyCounts(call.protocol.endpoint));
      if (place !== null) await checkPathObjects(this.#dependencies, call, place);
      return null;
    } catch (thrown) {
      return this.#notAdmitted(call, thrown);
    }
  }

  async #notAdmitted(call: Call, thrown: unknown, story?: () => PlanStory): Promise<Refusal> {
    const failure = agentsFailure(call, asFailure(thrown));
    explainRefusal(this.#dependencies, call, failure, { story });
    this.#refused(call, failure);
    if (!limitCodes.has(failure.code)) return { failure, headers: {} };
    const { admission, clock } = this.#dependencies;
    const now = clock.now();
    const headers = refusedCapHeaders(call, failure, now);
    addRateHeaders(call.protocol.dialect, await admission.rates(call.principal), now, headers);
    return { failure, headers };
  }

  #refused(call: Call, failure: Failure): void {
    discard(call);
    if (failure.code === "internal_error") this.#report(call, failure);
    this.#dependencies.recorder.refuse(
      { ...callFields(call), model: refusedModel(call.models[0]?.name, call.facts.model) },
      failure.code,
      failure.status,
      this.#dependencies.clock.monotonic() - call.startedMs,
    );
  }

  #constraints(call: Call): RoutingConstraints {
    const { protocol, facts, kept } = call;
    const constraints = { canServe: canServeOf(protocol), affinity: facts.affinity, provider: kept?.provider ?? null };
    const { conversation } = facts;
    if (facts.affinity !== null || conversation === undefined || !(call.body instanceof Uint8Array)) return constraints;
    if (!this.#dependencies.router.hasEquals(call.models, constraints)) return constraints;
    return { ...constraints, affinity: conversationFingerprint(call.body, conversation) };
  }

  #report(call: Call, failure: Failure): void {
    this.#dependencies.observer.log("error", "A call met an unexpected error.", {
      requestId: call.requestId,
      error: failure.cause,
    });
  }
}

/**
 * A refusal that holds for one account only (a model that it lacks, a seal that it cannot read). When another account was
 * unhealthy or at its limit, the caller should get that failure, and try again.
 */
function refusedByOneOnly(failure: Failure | null): boolean {
  return failure?.retry === "other" && failure.upstream !== undefined && failure.upstream.status < 500;
}

/** One function for each protocol: the router caches by it. */
const canServeOf = oncePerObject((protocol: EndpointProtocol) => {
  return (deployment: Deployment): boolean => matchLane(deployment, protocol) !== null;
});

/** Refusals by the caller's own limits. */
const limitCodes: ReadonlySet<string> = new Set(["rate_limit_exceeded", "budget_exceeded", "budget_held"]);

function namesKept({ facts: { continues, objects } }: Call): boolean {
  return continues !== null || (objects !== undefined && objects.length > 0);
}

/** Releases spooled bodies once nothing more can be sent. */
function discard(call: Call): void {
  if (call.body !== null && !(call.body instanceof Uint8Array)) call.body.discard();
  call.body = null;
}

type Explains = Pick<RelayDependencies, "explainer">;

/** Explains a call that has ended, unless its plan was one deployment, which served it. `plan` null: it was passed through. */
function explainCall(dependencies: Explains, call: Call, plan: Plan | null, tally: CallTally): void {
  const { refusal, failures } = tally;
  const isImportant = refusal !== null || failures !== null;
  if (!isImportant && plan?.chosen !== true) return;
  explain(dependencies, call, isImportant, () =>
    explanationOf(plan?.explain() ?? nothingPlanned, refusal, failures ?? []),
  );
}

/** Explains a call that was refused before any attempt. A caller that went away was not refused. */
function explainRefusal(
  dependencies: Explains,
  call: Call,
  failure: Failure,
  { story, why }: { readonly story?: (() => PlanStory) | undefined; readonly why?: string | undefined },
): void {
  if (failure.code === "client_closed") return;
  explain(dependencies, call, true, () => explanationOf(story?.() ?? nothingPlanned, failure, [], why));
}

function explain({ explainer }: Explains, call: Call, isImportant: boolean, explanation: () => Explanation): void {
  const { requestId, principal } = call;
  explainer.explain({ requestId, workspaceId: principal.workspace.id, isImportant, explanation });
}

const nothingPlanned: PlanStory = { places: [], steps: [] };

/** `why`: the message for admins, where the caller gets another one. */
export function explanationOf(
  { places, steps: taken }: PlanStory,
  refusal: Failure | null,
  failures: readonly FailedAttempt[],
  why?: string,
): Explanation {
  const more = places.length - bounds.explainPlacesMax;
  const all = more > 0 ? [{ code: "places_not_shown", params: { count: more } } as const, ...taken] : taken;
  const steps = all.slice(0, bounds.explainLinesMax);
  return {
    plan: places.slice(0, bounds.explainPlacesMax).map(({ model, deployment, remarks }) => ({
      deployment: deployment.id,
      provider: deployment.provider.id,
      model: model.name,
      upstream_model: deployment.upstreamModel,
      priority: deployment.priority,
      weight: deployment.weight,
      note: remarks.length === 0 ? null : placeSentence(remarks),
      reasons: [...remarks],
    })),
    refusal: refusal === null ? null : refusalOf(refusal, why),
    failures: failures.map(({ attemptId, code, message, retry }) => ({ attempt_id: attemptId, code, message, retry })),
    walk: steps.map((step) => remarkSentence("step", step)),
    steps,
  };
}

function refusalOf({ code, message, details }: Failure, why = message): Explanation["refusal"] {
  const { scope = null, limit = null, used = null, resets_at = null } = details ?? {};
  return { code, message: why, scope, limit, used, resets_at: resets_at === null ? null : resets_at * 1_000 };
}
