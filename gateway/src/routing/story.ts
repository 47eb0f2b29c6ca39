import type { Deployment, Model } from "#core/index.ts";
import type { Candidate, RoutingConstraints } from "./candidates.ts";

/** One deployment as a plan sees it. */
export interface Place {
  readonly model: Model;
  readonly deployment: Deployment;
  /** Why it is preferred, passed over or left out; null when there is nothing to say of it. */
  readonly note: string | null;
}

/** How a plan came about and what became of it. */
export interface PlanStory {
  /** In the order in which they would be tried; what is left out comes last. */
  readonly places: readonly Place[];
  /** What was tried and why, a line each. */
  readonly walk: readonly string[];
}

export interface PlaceOptions {
  readonly models: readonly Model[];
  readonly constraints: RoutingConstraints;
  readonly candidates: readonly Candidate[];
  /** Why each candidate was passed over, by its index; null when all were well. */
  readonly problems: readonly (string | null)[] | null;
}

/** Every deployment of the models with its note. Worked out for a reader, never for the call itself. */
export function placesOf(parts: PlaceOptions): readonly Place[] {
  const { candidates, problems } = parts;
  const healthy: Place[] = [];
  const unhealthy: Place[] = [];
  candidates.forEach((candidate, index) => {
    const problem = problems?.[index] ?? null;
    const notes = preferences(parts, index);
    if (problem !== null) notes.push(problem);
    const { model, deployment } = candidate;
    const place = { model, deployment, note: notes.length === 0 ? null : notes.join("; ") };
    (problem === null ? healthy : unhealthy).push(place);
  });
  return [...healthy, ...unhealthy, ...leftOut(parts)];
}

function preferences({ models, constraints, candidates }: PlaceOptions, index: number): string[] {
  const notes: string[] = [];
  const candidate = candidates[index];
  if (candidate === undefined) return notes;
  if (candidate.model !== models[0]) notes.push("a fallback model");
  if (constraints.provider != null) notes.push("only this account keeps what the call goes on from");
  const equals = candidates.filter(
    ({ model, deployment }) =>
      model === candidate.model && deployment.priority === candidate.deployment.priority && deployment.weight > 0,
  );
  if (equals.length < 2 || equals[0] !== candidate) return notes;
  notes.push(
    constraints.affinity == null
      ? `drawn by weight, first of ${equals.length}`
      : `affinity: calls of this conversation come here first, of ${equals.length}`,
  );
  return notes;
}

function leftOut({ models, constraints, candidates }: PlaceOptions): readonly Place[] {
  const taken = new Set(candidates.map(({ deployment }) => deployment.id));
  return models.flatMap((model) =>
    model.deployments
      .filter(({ id }) => !taken.has(id))
      .map((deployment) => ({ model, deployment, note: `left out: ${whyLeftOut(deployment, constraints)}` })),
  );
}

function whyLeftOut(deployment: Deployment, { canServe, provider }: RoutingConstraints): string {
  if (!deployment.enabled) return "it is switched off";
  if (!deployment.provider.enabled) return "its provider is switched off";
  if (canServe !== undefined && !canServe(deployment)) return "it cannot serve this call";
  if (provider != null && deployment.provider.id !== provider)
    return "another account keeps what the call goes on from";
  if (deployment.weight === 0) return "weight 0, and others of its priority have some";
  return "the same deployment stands above";
}
