import type { Explanation } from "@sluice/contract/console";
import { remarkSentence } from "@sluice/contract/words";
import {
  asFailure,
  bounds,
  type Failure,
  personOfScope,
  policyIdOf,
  type ReachedLimit,
  refusedModel,
} from "#core/index.ts";
import { type Plan, type PlanStory, placeSentence } from "#routing/index.ts";
import { addRateHeaders, agentsFailure, refusedCapHeaders } from "./attempt/answer-headers.ts";
import type { CallTally, FailedAttempt } from "./attempt/call-tally.ts";
import { type Call, openEntryOf, type Refusal, type RelayDependencies } from "./call.ts";

/** Records and explains a call that was refused before any attempt, with the headers of the limit that it met. */
export async function notAdmitted(
  dependencies: RelayDependencies,
  call: Call,
  thrown: unknown,
  story?: () => PlanStory,
): Promise<Refusal> {
  const failure = agentsFailure(call, asFailure(thrown));
  refuse(dependencies, call, failure, { story });
  if (!limitCodes.has(failure.code)) return { failure, headers: {} };
  const { admission, clock } = dependencies;
  const now = clock.now();
  const headers = refusedCapHeaders(call, failure, now);
  addRateHeaders(call.protocol.dialect, await admission.rates(call.principal), now, headers);
  return { failure, headers };
}

/** Records and explains a call that was refused before any attempt. `why`: the message for admins, where the caller gets another one. */
export function refuse(
  dependencies: RelayDependencies,
  call: Call,
  failure: Failure,
  { story, why }: { readonly story?: (() => PlanStory) | undefined; readonly why?: string | undefined },
): void {
  // A caller that went away was not refused.
  if (failure.code !== "client_closed") {
    explain(dependencies, call, true, () => explanationOf(story?.() ?? nothingPlanned, failure, [], why));
  }
  recordRefusal(dependencies, call, failure);
}

export function recordRefusal(dependencies: RelayDependencies, call: Call, failure: Failure): void {
  discard(call);
  reportUnexpected(dependencies, call, failure);
  // Its batch waits and runs the row again.
  if (call.batch !== undefined && limitCodes.has(failure.code)) return;
  const entry = openEntryOf(call);
  entry.model = refusedModel(call.models[0]?.name, call.facts.model);
  const { recorder, clock } = dependencies;
  recorder.refuse(entry, failure.code, failure.status, clock.monotonic() - call.startedMs);
}

/** Logs an internal error. */
export function reportUnexpected({ observer }: RelayDependencies, { requestId }: Call, { code, cause }: Failure): void {
  if (code !== "internal_error") return;
  observer.log("error", "unexpected error while handling a call", { requestId, error: cause });
}

/** Refusals by the caller's own limits. */
const limitCodes: ReadonlySet<string> = new Set(["rate_limit_exceeded", "budget_exceeded", "budget_held"]);

/** Releases spooled bodies once nothing more can be sent. */
export function discard(call: Call): void {
  if (call.body !== null && !(call.body instanceof Uint8Array)) call.body.discard();
  call.body = null;
}

type Explains = Pick<RelayDependencies, "explainer">;

/** Explains a call that has ended, unless its plan was one deployment, which served it. `plan` null: it was passed through. */
export function explainCall(dependencies: Explains, call: Call, plan: Plan | null, tally: CallTally): void {
  const { refusal, failures } = tally;
  const isImportant = refusal !== null || failures !== null;
  if (isImportant || plan?.chosen === true) explainEnd(dependencies, call, plan, tally, isImportant);
}

function explainEnd(
  dependencies: Explains,
  call: Call,
  plan: Plan | null,
  { refusal, failures }: CallTally,
  isImportant: boolean,
): void {
  explain(dependencies, call, isImportant, () =>
    explanationOf(plan?.explain() ?? nothingPlanned, refusal, failures ?? []),
  );
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

function refusalOf({ code, message, details, reachedLimit }: Failure, why = message): Explanation["refusal"] {
  const { scope = null, limit = null, used = null, resets_at = null } = details ?? {};
  return {
    ...{ code, message: why, scope, limit, used, resets_at: resets_at === null ? null : resets_at * 1_000 },
    reached: reachedLimit === undefined ? null : reachedView(reachedLimit),
  };
}

function reachedView({ scope, scopeId, kind }: ReachedLimit) {
  if (scope === "policy") return { scope, scope_id: policyIdOf(scopeId), kind };
  return { scope, scope_id: scope === "person" ? personOfScope(scopeId)[1] : scopeId, kind };
}
