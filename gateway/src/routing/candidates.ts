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

/**
 * A random order in which each comes first as often as its weight says, and so on among the rest (Efraimidis and
 * Spirakis, "Weighted random sampling with a reservoir", 2006).
 */
export function shuffle(tier: Tier, chance: Chance): Tier {
  if (tier.length < 2) return tier;
  const drawn = tier.map((deployment) => ({
    deployment,
    draw: -Math.log(1 - chance.unit()) / (deployment.weight > 0 ? deployment.weight : 1),
  }));
  return drawn.sort((a, b) => a.draw - b.draw).map(({ deployment }) => deployment);
}
