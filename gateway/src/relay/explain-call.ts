import type { Explanation } from "@sluice/contract/console";
import { bounds, type Failure } from "#core/index.ts";
import { type Plan, type PlanStory, placeSentence, stepSentence } from "#routing/index.ts";
import type { CallTally } from "./attempt/call-tally.ts";
import type { FailedAttempt } from "./attempt/failed-attempt.ts";
import type { Call } from "./call.ts";
import type { RelayDependencies } from "./dependencies.ts";

/** Tells of a call that has come to its end. One that had one way to go and went it is not worth a word. */
export function explainCall(
  { explainer }: Pick<RelayDependencies, "explainer">,
  call: Call,
  plan: Plan,
  tally: CallTally,
): void {
  const { refusal, failures } = tally;
  const matters = refusal !== null || failures !== null;
  if (!matters && !plan.chosen) return;
  explainer.explain({
    requestId: call.requestId,
    workspaceId: call.principal.workspace.id,
    matters,
    explanation: () => explanationOf(plan.explain(), refusal, failures ?? []),
  });
}

/** In the shape in which it is shown. `why`: what may be said beyond what the caller was told. */
export function explanationOf(
  { places, steps: taken }: PlanStory,
  refusal: Failure | null,
  failures: readonly FailedAttempt[],
  why: string | null = null,
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
    walk: steps.map(stepSentence),
    steps,
  };
}

function refusalOf({ code, message, details }: Failure, why: string | null): Explanation["refusal"] {
  const resetsAt = details?.resets_at ?? null;
  return {
    code,
    message: why ?? message,
    scope: details?.scope ?? null,
    limit: details?.limit ?? null,
    used: details?.used ?? null,
    resets_at: resetsAt === null ? null : resetsAt * 1_000,
  };
}
