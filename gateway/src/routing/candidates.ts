import type { Deployment, Model } from "#core/index.ts";
import type { Chance } from "#ports/index.ts";
import type { Circuit } from "./circuit.ts";

/** One deployment that may serve the call, and how often this call has tried it. */
export interface Candidate {
  readonly model: Model;
  readonly deployment: Deployment;
  readonly circuit: Circuit;
  tries: number;
}

/** Where the candidates of one model stand before their health is looked at: groups of equal priority, lowest number first. */
export type Tier = readonly Deployment[];

/**
 * Enabled deployments by priority. Weight 0 means none of the traffic unless nobody else in the tier has any: it takes
 * a deployment out without forgetting it.
 */
export function tiersOf(model: Model): readonly Tier[] {
  const byPriority = new Map<number, Deployment[]>();
  for (const deployment of model.deployments) {
    if (!deployment.enabled || !deployment.provider.enabled) continue;
    const tier = byPriority.get(deployment.priority);
    if (tier === undefined) byPriority.set(deployment.priority, [deployment]);
    else tier.push(deployment);
  }
  return [...byPriority.entries()].sort(([a], [b]) => a - b).map(([, tier]) => withoutIdle(tier));
}

function withoutIdle(tier: Tier): Tier {
  const weighted = tier.filter((deployment) => deployment.weight > 0);
  return weighted.length > 0 ? weighted : tier;
}

/** What a call knows of itself that has a say in its order. */
export interface RoutingConstraints {
  /** Deployments that cannot serve the call at all are not candidates. What it says of one is remembered with the function. */
  readonly canServe?: (deployment: Deployment) => boolean;
  /** Calls of one conversation say the same and get the same order, so that the upstream's caches and sealed items serve. */
  readonly affinity?: string | null;
  /** Only this provider: it keeps something that the call needs. */
  readonly provider?: string | null;
}

/** The order within a tier: the same each time for calls with the same affinity, else by chance. */
export function arrange(tier: Tier, affinity: string | null, chance: Chance): Tier {
  if (tier.length < 2) return tier;
  return affinity === null
    ? order(tier, () => chance.unit())
    : order(tier, (deployment) => unitOf(`${affinity}\n${deployment.id}`));
}

/**
 * An order in which each comes first as often as its weight says, and so on among the rest (Efraimidis and
 * Spirakis, "Weighted random sampling with a reservoir", 2006). With numbers that come from a hash it is weighted
 * rendezvous hashing: when a deployment goes, only its own conversations move.
 */
function order(tier: Tier, unit: (deployment: Deployment) => number): Tier {
  const drawn = tier.map((deployment) => ({
    deployment,
    draw: -Math.log(1 - unit(deployment)) / (deployment.weight > 0 ? deployment.weight : 1),
  }));
  return drawn.sort((a, b) => a.draw - b.draw).map(({ deployment }) => deployment);
}

/** A text as a number in [0, 1), evenly spread. */
function unitOf(text: string): number {
  return Number(BigInt.asUintN(53, Bun.hash.wyhash(text))) / 2 ** 53;
}
