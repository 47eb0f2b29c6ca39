import type { Deployment, Model } from "#core/index.ts";
import type { Candidate, RoutingConstraints } from "./order.ts";
import type { PlaceRemark, StepRemark } from "./remarks.ts";

/** One deployment as a plan sees it. */
export interface Place {
  readonly model: Model;
  readonly deployment: Deployment;
  /** Why it is preferred, passed over or left out; empty when there is nothing to say of it. */
  readonly remarks: readonly PlaceRemark[];
}

/** How a plan came about and what became of it. */
export interface PlanStory {
  /** In the order in which they would be tried; what is left out comes last. */
  readonly places: readonly Place[];
  /** What was tried, and why. */
  readonly steps: readonly StepRemark[];
}

export interface PlaceOptions {
  readonly models: readonly Model[];
  readonly constraints: RoutingConstraints;
  readonly candidates: readonly Candidate[];
  /** Why each candidate was passed over, by its index; null when all were well. */
  readonly problems: readonly (readonly PlaceRemark[])[] | null;
}

/** Every deployment of the models with its remarks. Worked out for a reader, never for the call itself. */
export function placesOf(parts: PlaceOptions): readonly Place[] {
  const { candidates, problems } = parts;
  const healthy: Place[] = [];
  const unhealthy: Place[] = [];
  candidates.forEach((candidate, index) => {
    const problem = problems?.[index] ?? [];
    const { model, deployment } = candidate;
    const place = { model, deployment, remarks: [...preferences(parts, index), ...problem] };
    (problem.length === 0 ? healthy : unhealthy).push(place);
  });
  return [...healthy, ...unhealthy, ...leftOut(parts)];
}

function preferences({ models, constraints, candidates }: PlaceOptions, index: number): readonly PlaceRemark[] {
  const remarks: PlaceRemark[] = [];
  const candidate = candidates[index];
  if (candidate === undefined) return remarks;
  if (candidate.model !== models[0]) remarks.push({ code: "fallback_model", params: {} });
  if (constraints.provider != null) remarks.push({ code: "account_bound", params: {} });
  const before = candidates[index - 1];
  if (before !== undefined && areEquals(before, candidate)) return remarks;
  const count = candidates.filter((other) => areEquals(other, candidate)).length;
  if (count < 2) return remarks;
  remarks.push({ code: constraints.affinity == null ? "drawn_by_weight" : "affinity", params: { count } });
  return remarks;
}

/** Candidates that are equals stand one behind the other. */
function areEquals(one: Candidate, other: Candidate): boolean {
  return (
    one.model === other.model &&
    one.deployment.priority === other.deployment.priority &&
    one.deployment.weight > 0 &&
    other.deployment.weight > 0
  );
}

function leftOut({ models, constraints, candidates }: PlaceOptions): readonly Place[] {
  const taken = new Set(candidates.map(({ deployment }) => deployment.id));
  return models.flatMap((model) =>
    model.deployments
      .filter(({ id }) => !taken.has(id))
      .map((deployment) => ({
        model,
        deployment,
        remarks: [{ code: whyLeftOut(deployment, constraints), params: {} }],
      })),
  );
}

function whyLeftOut(deployment: Deployment, { canServe, provider }: RoutingConstraints): LeftOut {
  if (!deployment.enabled) return "deployment_disabled";
  if (!deployment.provider.enabled) return "provider_disabled";
  if (canServe !== undefined && !canServe(deployment)) return "cannot_serve";
  if (provider != null && deployment.provider.id !== provider) return "other_account";
  return deployment.weight === 0 ? "no_weight" : "duplicate";
}

type LeftOut = Extract<
  PlaceRemark["code"],
  "deployment_disabled" | "provider_disabled" | "cannot_serve" | "other_account" | "no_weight" | "duplicate"
>;
