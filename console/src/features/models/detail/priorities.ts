import type { BodyInput, CapabilitiesConfig, ConsoleDeployment } from "@sluice/contract";

/** A deployment in the draft of the page. */
export interface Placed {
  /** Identifies a deployment: provider and upstream model. */
  readonly key: string;
  readonly provider: string;
  readonly upstreamModel: string;
  readonly priority: number;
  readonly weight: number;
  readonly enabled: boolean;
  readonly capabilities: CapabilitiesConfig | null;
}

/** The deployments of one priority, which share its requests. Never empty. */
export type Priority = readonly Placed[];
/** In the order in which they are tried. */
export type Priorities = readonly Priority[];

const defaultWeight = 100;
const priorityMax = 1_000;

export function placedKey(provider: string, upstreamModel: string): string {
  return JSON.stringify([provider, upstreamModel]);
}

export function prioritiesOf(deployments: readonly ConsoleDeployment[]): Priorities {
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

/** The complete list for the gateway. Priorities are kept if they still give the order; otherwise they are renumbered. */
export function deploymentsBody(priorities: Priorities): NonNullable<BodyInput<"models.update">["deployments"]> {
  const numbers = numbersOf(priorities);
  return priorities.flatMap((priority, place) =>
    priority.map(({ provider, upstreamModel, weight, enabled, capabilities }) => ({
      provider,
      upstream_model: upstreamModel,
      priority: numbers[place] ?? place + 1,
      weight,
      enabled,
      capabilities,
    })),
  );
}

function numbersOf(priorities: Priorities): readonly number[] {
  const numbers = priorities.map(([first]) => first?.priority ?? 0);
  const agree = priorities.every((priority, place) => priority.every((each) => each.priority === numbers[place]));
  const rise = numbers.every((priority, place) => place === 0 || priority > (numbers[place - 1] ?? 0));
  return agree && rise && numbers.every((priority) => priority <= priorityMax)
    ? numbers
    : priorities.map((_, place) => place + 1);
}

/** Shares of a priority's requests, 0 to 1. Disabled deployments get none; weight 0 gets none unless all have it. */
export function sharesOf(priority: Priority): ReadonlyMap<string, number> {
  const on = priority.filter((each) => each.enabled);
  const weighted = on.filter((each) => each.weight > 0);
  const sharing = weighted.length > 0 ? weighted : on;
  const weightOf = (each: Placed) => (weighted.length > 0 ? each.weight : 1);
  const sum = sharing.reduce((total, each) => total + weightOf(each), 0);
  return new Map(priority.map((each) => [each.key, sharing.includes(each) ? weightOf(each) / sum : 0]));
}

/** Moves one step up: out of a shared priority to a new one before it, or into the previous one. */
export function movedEarlier(priorities: Priorities, key: string): Priorities {
  const from = placeOf(priorities, key);
  const priority = priorities[from];
  if (priority === undefined) return priorities;
  if (priority.length > 1) return movedBetween(priorities, key, from);
  return from === 0 ? priorities : movedInto(priorities, key, from - 1);
}

export function movedLater(priorities: Priorities, key: string): Priorities {
  const from = placeOf(priorities, key);
  const priority = priorities[from];
  if (priority === undefined) return priorities;
  if (priority.length > 1) return movedBetween(priorities, key, from + 1);
  return from === priorities.length - 1 ? priorities : movedInto(priorities, key, from + 1);
}

/** Moves into the priority at `place`. */
export function movedInto(priorities: Priorities, key: string, place: number): Priorities {
  const from = placeOf(priorities, key);
  const moved = priorities[from]?.find((each) => each.key === key);
  if (moved === undefined || from === place || priorities[place] === undefined) return priorities;
  return withoutEmpty(
    priorities.map((priority, at) =>
      at === place ? [...priority, moved] : at === from ? priority.filter((each) => each.key !== key) : priority,
    ),
  );
}

/** Moves to a new priority before `place`; `priorities.length` appends it. */
export function movedBetween(priorities: Priorities, key: string, place: number): Priorities {
  const from = placeOf(priorities, key);
  const moved = priorities[from]?.find((each) => each.key === key);
  if (moved === undefined) return priorities;
  // It is already alone in a priority at this place.
  if (priorities[from]?.length === 1 && (place === from || place === from + 1)) return priorities;
  const rest = priorities.map((priority) => priority.filter((each) => each.key !== key));
  return withoutEmpty([...rest.slice(0, place), [moved], ...rest.slice(place)]);
}

export function changed(priorities: Priorities, key: string, part: Partial<Placed>): Priorities {
  return priorities.map((priority) => priority.map((each) => (each.key === key ? { ...each, ...part } : each)));
}

export function removed(priorities: Priorities, key: string): Priorities {
  return withoutEmpty(priorities.map((priority) => priority.filter((each) => each.key !== key)));
}

/** Appends a new last priority, tried when all others fail. */
export function added(priorities: Priorities, provider: string, upstreamModel: string): Priorities {
  const priority = Math.max(0, ...priorities.flat().map((each) => each.priority)) + 1;
  const key = placedKey(provider, upstreamModel);
  return [
    ...priorities,
    [{ key, provider, upstreamModel, priority, weight: defaultWeight, enabled: true, capabilities: null }],
  ];
}

export function samePriorities(one: Priorities, other: Priorities): boolean {
  return JSON.stringify(deploymentsBody(one)) === JSON.stringify(deploymentsBody(other));
}

function placeOf(priorities: Priorities, key: string): number {
  return priorities.findIndex((priority) => priority.some((each) => each.key === key));
}

function withoutEmpty(priorities: Priorities): Priorities {
  return priorities.filter((priority) => priority.length > 0);
}
