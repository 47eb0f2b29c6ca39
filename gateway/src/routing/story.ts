import type { Deployment, Model } from "#core/index.ts";
import type { Candidate, Wishes } from "./candidates.ts";

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

export interface PlaceParts {
  readonly models: readonly Model[];
  readonly wishes: Wishes;
  readonly candidates: readonly Candidate[];
  /** Why each candidate was passed over, by its index; null when all were well. */
  readonly troubles: readonly (string | null)[] | null;
}

/** Every deployment of the models with its note. Worked out for a reader, never for the call itself. */
export function placesOf(parts: PlaceParts): readonly Place[] {
  const { candidates, troubles } = parts;
  const well: Place[] = [];
  const troubled: Place[] = [];
  candidates.forEach((candidate, index) => {
    const trouble = troubles?.[index] ?? null;
    const notes = preferences(parts, index);
    if (trouble !== null) notes.push(trouble);
    const { model, deployment } = candidate;
    const place = { model, deployment, note: notes.length === 0 ? null : notes.join("; ") };
    (trouble === null ? well : troubled).push(place);
  });
  return [...well, ...troubled, ...leftOut(parts)];
}

function preferences({ models, wishes, candidates }: PlaceParts, index: number): string[] {
  const notes: string[] = [];
  const candidate = candidates[index];
  if (candidate === undefined) return notes;
  if (candidate.model !== models[0]) notes.push("a fallback model");
  if (wishes.provider != null) notes.push("only this account keeps what the call goes on from");
  const equals = candidates.filter(
    ({ model, deployment }) =>
      model === candidate.model && deployment.priority === candidate.deployment.priority && deployment.weight > 0,
  );
  if (equals.length < 2 || equals[0] !== candidate) return notes;
  notes.push(
    wishes.affinity == null
      ? `drawn by weight, first of ${equals.length}`
      : `affinity: calls of this conversation come here first, of ${equals.length}`,
  );
  return notes;
}

function leftOut({ models, wishes, candidates }: PlaceParts): readonly Place[] {
  const taken = new Set(candidates.map(({ deployment }) => deployment.id));
  return models.flatMap((model) =>
    model.deployments
      .filter(({ id }) => !taken.has(id))
      .map((deployment) => ({ model, deployment, note: `left out: ${whyLeftOut(deployment, wishes)}` })),
  );
}

function whyLeftOut(deployment: Deployment, { suits, provider }: Wishes): string {
  if (!deployment.enabled) return "it is switched off";
  if (!deployment.provider.enabled) return "its provider is switched off";
  if (suits !== undefined && !suits(deployment)) return "it cannot serve this call";
  if (provider != null && deployment.provider.id !== provider)
    return "another account keeps what the call goes on from";
  if (deployment.weight === 0) return "weight 0, and others of its priority have some";
  return "the same deployment stands above";
}
