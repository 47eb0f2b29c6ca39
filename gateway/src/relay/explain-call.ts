import type { Explanation } from "@sluice/contract/console";
import { remarkSentence } from "@sluice/contract/words";
import { bounds, type Failure } from "#core/index.ts";
import { type Plan, type PlanStory, placeSentence } from "#routing/index.ts";
import type { CallTally, FailedAttempt } from "./attempt/call-tally.ts";
import type { Call } from "./call.ts";
import type { RelayDependencies } from "./dependencies.ts";

/** Explains a call that has come to its end, unless it had one way to go and went it. `plan` null: it is passed through. */
export function explainCall({ explainer }: Explains, call: Call, plan: Plan | null, tally: CallTally): void {
  const { refusal, failures } = tally;
  const matters = refusal !== null || failures !== null;
  if (!matters && plan?.chosen !== true) return;
  explainer.explain({
    requestId: call.requestId,
    workspaceId: call.principal.workspace.id,
    matters,
    explanation: () => explanationOf(plan?.explain() ?? nothingPlanned, refusal, failures ?? []),
  });
}

/** Explains a call that was refused before any attempt. A caller that went away was not refused. */
export function explainRefusal(
  { explainer }: Explains,
  call: Call,
  failure: Failure,
  { story, why }: { readonly story?: (() => PlanStory) | undefined; readonly why?: string | undefined },
): void {
  if (failure.code === "client_closed") return;
  explainer.explain({
    requestId: call.requestId,
    workspaceId: call.principal.workspace.id,
    matters: true,
    explanation: () => explanationOf(story?.() ?? nothingPlanned, failure, [], why),
  });
}

type Explains = Pick<RelayDependencies, "explainer">;

const nothingPlanned: PlanStory = { places: [], steps: [] };

/** In the shape in which it is shown. `why`: what may be said beyond what the caller was told. */
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

function refusalOf({ code, message, details }: Failure, why: string | undefined): Explanation["refusal"] {
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
