import type { Explanation } from "@sluice/contract/console";
import { remarkSentence } from "@sluice/contract/words";
import { bounds, type Failure } from "#core/index.ts";
import { type Plan, type PlanStory, placeSentence } from "#routing/index.ts";
import type { CallTally, FailedAttempt } from "./attempt/call-tally.ts";
import type { Call } from "./call.ts";
import type { RelayDependencies } from "./dependencies.ts";

type Explains = Pick<RelayDependencies, "explainer">;

/** Explains a call that has ended, unless its plan was one deployment, which served it. `plan` null: it was passed through. */
export function explainCall(dependencies: Explains, call: Call, plan: Plan | null, tally: CallTally): void {
  const { refusal, failures } = tally;
  const matters = refusal !== null || failures !== null;
  if (!matters && plan?.chosen !== true) return;
  explain(dependencies, call, matters, () => explanationOf(plan?.explain() ?? nothingPlanned, refusal, failures ?? []));
}

/** Explains a call that was refused before any attempt. A caller that went away was not refused. */
export function explainRefusal(
  dependencies: Explains,
  call: Call,
  failure: Failure,
  { story, why }: { readonly story?: (() => PlanStory) | undefined; readonly why?: string | undefined },
): void {
  if (failure.code === "client_closed") return;
  explain(dependencies, call, true, () => explanationOf(story?.() ?? nothingPlanned, failure, [], why));
}

function explain({ explainer }: Explains, call: Call, matters: boolean, explanation: () => Explanation): void {
  const { requestId, principal } = call;
  explainer.explain({ requestId, workspaceId: principal.workspace.id, matters, explanation });
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
