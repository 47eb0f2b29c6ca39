import type { Deployment, Model } from "#core/index.ts";
import type { Candidate, RoutingConstraints } from "./order.ts";
import type { PlaceRemark, StepRemark } from "./remarks.ts";

export interface Place {
  readonly model: Model;
  readonly deployment: Deployment;
  /** Why it is preferred, skipped or excluded. */
  readonly remarks: readonly PlaceRemark[];
}

export interface PlanExplanation {
  /** In order of preference; excluded ones last. */
  readonly places: readonly Place[];
  readonly steps: readonly StepRemark[];
}

export interface PlanOrigin {
  readonly models: readonly Model[];
  readonly constraints: RoutingConstraints;
}

interface PlaceOptions extends PlanOrigin {
  readonly candidates: readonly Candidate[];
  /** Why each candidate was skipped, by index; null: all were healthy. */
  readonly problems: readonly (readonly PlaceRemark[])[] | null;
}

export function placesOf(parts: PlaceOptions): readonly Place[] {
  const { candidates, problems } = parts;
  const healthy: Place[] = [];
  const unhealthy: Place[] = [];
  candidates.forEach((candidate, index) => {
    const problem = problems?.[index] ?? [];
    const { model, deployment } = candidate;
    const place = { model, deployment, remarks: [...preferences(parts, candidate, candidates[index - 1]), ...problem] };
    (problem.length === 0 ? healthy : unhealthy).push(place);
  });
  return [...healthy, ...unhealthy, ...leftOut(parts)];
}

function preferences(
  { models, constraints, candidates }: PlaceOptions,
  candidate: Candidate,
  before: Candidate | undefined,
): readonly PlaceRemark[] {
  const remarks: PlaceRemark[] = [];
  if (candidate.model !== models[0]) remarks.push({ code: "fallback_model", params: {} });
  if (constraints.provider != null) remarks.push({ code: "account_bound", params: {} });
  if (before !== undefined && areEquals(before, candidate)) return remarks;
  const count = candidates.filter((other) => areEquals(other, candidate)).length;
  if (count < 2) return remarks;
  remarks.push({ code: constraints.affinity == null ? "drawn_by_weight" : "affinity", params: { count } });
  return remarks;
}

/** Equal candidates are adjacent. */
function areEquals(one: Candidate, other: Candidate): boolean {
  return (
    one.model === other.model &&
    one.deployment.priority === other.deployment.priority &&
    one.deployment.weight > 0 &&
    other.deployment.weight > 0
  );
}

function leftOut({ models, constraints, candidates }: PlaceOptions): readonly Place[] {
  const planned = new Set(candidates.map(({ deployment }) => deployment.id));
  return models.flatMap((model) =>
    model.deployments
      .filter(({ id }) => !planned.has(id))
      .map((deployment) => ({ model, deployment, remarks: [whyLeftOut(deployment, constraints)] })),
  );
}

function whyLeftOut(deployment: Deployment, { canServe, provider }: RoutingConstraints): PlaceRemark {
  if (!deployment.enabled) return { code: "deployment_disabled", params: {} };
  if (!deployment.provider.enabled) return { code: "provider_disabled", params: {} };
  if (canServe !== undefined && !canServe(deployment)) return { code: "cannot_serve", params: {} };
  if (provider != null && deployment.provider.id !== provider) return { code: "other_account", params: {} };
  return { code: deployment.weight === 0 ? "no_weight" : "duplicate", params: {} };
}
