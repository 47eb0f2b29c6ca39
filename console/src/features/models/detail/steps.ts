import type { BodyInput, CapabilitiesConfig, ConsoleDeployment } from "@sluice/contract";

/** A deployment as the page has it before it is saved. */
export interface Placed {
  /** Provider and upstream model: what it is known by. */
  readonly key: string;
  readonly provider: string;
  readonly upstreamModel: string;
  readonly priority: number;
  readonly weight: number;
  readonly enabled: boolean;
  readonly capabilities: CapabilitiesConfig | null;
}

/** Deployments of one priority: they share the calls. Never empty. */
export type Step = readonly Placed[];
/** In the order in which they are tried. */
export type Steps = readonly Step[];

const defaultWeight = 100;
const priorityMax = 1_000;

export function placedKey(provider: string, upstreamModel: string): string {
  return JSON.stringify([provider, upstreamModel]);
}

export function stepsOf(deployments: readonly ConsoleDeployment[]): Steps {
  const byPriority = Map.groupBy(deployments, (deployment) => deployment.priority);
  return [...byPriority]
    .toSorted(([one], [other]) => one - other)
    .map(([, group]) =>
      group.map(({ provider, upstream_model, priority, weight, enabled, capabilities }) => ({
        key: placedKey(provider, upstream_model),
        provider,
        upstreamModel: upstream_model,
        priority,
        weight,
        enabled,
        capabilities,
      })),
    );
}

/** The whole list as the gateway takes it. Priorities stay where they still give the order, else steps are counted anew. */
export function deploymentsBody(steps: Steps): NonNullable<BodyInput<"models.update">["deployments"]> {
  const priorities = prioritiesOf(steps);
  return steps.flatMap((step, place) =>
    step.map(({ provider, upstreamModel, weight, enabled, capabilities }) => ({
      provider,
      upstream_model: upstreamModel,
      priority: priorities[place] ?? place + 1,
      weight,
      enabled,
      capabilities,
    })),
  );
}

function prioritiesOf(steps: Steps): readonly number[] {
  const kept = steps.map(([first]) => first?.priority ?? 0);
  const agree = steps.every((step, place) => step.every((each) => each.priority === kept[place]));
  const rise = kept.every((priority, place) => place === 0 || priority > (kept[place - 1] ?? 0));
  return agree && rise && kept.every((priority) => priority <= priorityMax) ? kept : steps.map((_, place) => place + 1);
}

/** Each one's share of a step's calls, 0 to 1. What is switched off has none; weight 0 has none unless nobody has more. */
export function sharesOf(step: Step): ReadonlyMap<string, number> {
  const on = step.filter((each) => each.enabled);
  const weighted = on.filter((each) => each.weight > 0);
  const sharing = weighted.length > 0 ? weighted : on;
  const weightOf = (each: Placed) => (weighted.length > 0 ? each.weight : 1);
  const sum = sharing.reduce((total, each) => total + weightOf(each), 0);
  return new Map(step.map((each) => [each.key, sharing.includes(each) ? weightOf(each) / sum : 0]));
}

/** One place earlier: out of a shared step to one of its own before it, or from its own into the one before. */
export function movedEarlier(steps: Steps, key: string): Steps {
  const from = placeOf(steps, key);
  const step = steps[from];
  if (step === undefined) return steps;
  if (step.length > 1) return movedBetween(steps, key, from);
  return from === 0 ? steps : movedInto(steps, key, from - 1);
}

export function movedLater(steps: Steps, key: string): Steps {
  const from = placeOf(steps, key);
  const step = steps[from];
  if (step === undefined) return steps;
  if (step.length > 1) return movedBetween(steps, key, from + 1);
  return from === steps.length - 1 ? steps : movedInto(steps, key, from + 1);
}

/** Into the step that stands at `place` now. */
export function movedInto(steps: Steps, key: string, place: number): Steps {
  const from = placeOf(steps, key);
  const moved = steps[from]?.find((each) => each.key === key);
  if (moved === undefined || from === place || steps[place] === undefined) return steps;
  return withoutEmpty(
    steps.map((step, at) =>
      at === place ? [...step, moved] : at === from ? step.filter((each) => each.key !== key) : step,
    ),
  );
}

/** Into a step of its own before the one that stands at `place` now; `steps.length`: at the end. */
export function movedBetween(steps: Steps, key: string, place: number): Steps {
  const from = placeOf(steps, key);
  const moved = steps[from]?.find((each) => each.key === key);
  if (moved === undefined) return steps;
  // Alone in its step already, and that step is at this place.
  if (steps[from]?.length === 1 && (place === from || place === from + 1)) return steps;
  const rest = steps.map((step) => step.filter((each) => each.key !== key));
  return withoutEmpty([...rest.slice(0, place), [moved], ...rest.slice(place)]);
}

export function changed(steps: Steps, key: string, part: Partial<Placed>): Steps {
  return steps.map((step) => step.map((each) => (each.key === key ? { ...each, ...part } : each)));
}

export function removed(steps: Steps, key: string): Steps {
  return withoutEmpty(steps.map((step) => step.filter((each) => each.key !== key)));
}

/** As a new last step: it is asked when all others failed. */
export function added(steps: Steps, provider: string, upstreamModel: string): Steps {
  const priority = Math.max(0, ...steps.flat().map((each) => each.priority)) + 1;
  const key = placedKey(provider, upstreamModel);
  return [
    ...steps,
    [{ key, provider, upstreamModel, priority, weight: defaultWeight, enabled: true, capabilities: null }],
  ];
}

export function sameSteps(one: Steps, other: Steps): boolean {
  return JSON.stringify(deploymentsBody(one)) === JSON.stringify(deploymentsBody(other));
}

function placeOf(steps: Steps, key: string): number {
  return steps.findIndex((step) => step.some((each) => each.key === key));
}

function withoutEmpty(steps: Steps): Steps {
  return steps.filter((step) => step.length > 0);
}
