import type { Deployment, Model } from "#core/index.ts";
import type { Chance, Clock } from "#ports/index.ts";
import type { Circuit } from "./circuit.ts";
import type { Circuits } from "./circuits.ts";

export interface Candidate {
  readonly model: Model;
  readonly deployment: Deployment;
  readonly circuit: Circuit;
  /** It is recovering, and this call is not of the part that it gets. */
  readonly heldBack: boolean;
  tries: number;
}

/** Deployments of one model with equal priority. */
export type Tier = readonly Deployment[];

/**
 * Enabled deployments by priority. A deployment of weight 0 gets no traffic unless all weights in its tier are 0: that takes
 * a deployment out without forgetting it. `provider`: only what is there counts.
 */
export function tiersOf(model: Model, provider: string | null = null): readonly Tier[] {
  const byPriority = new Map<number, Deployment[]>();
  for (const deployment of model.deployments) {
    if (!deployment.enabled || !deployment.provider.enabled) continue;
    if (provider !== null && deployment.provider.id !== provider) continue;
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

export interface RoutingConstraints {
  /** Its answers are cached by the function. */
  readonly canServe?: (deployment: Deployment) => boolean;
  /** The same for calls of one conversation, which get the same order: for the upstream's caches and sealed items. */
  readonly affinity?: string | null;
  /** Only this provider: it keeps something that the call needs. */
  readonly provider?: string | null;
}

export interface ModelTier {
  readonly model: Model;
  readonly deployments: Tier;
}

export interface PlanDependencies {
  readonly chance: Chance;
  readonly clock: Clock;
  readonly circuits: Circuits;
}

/**
 * The candidates of one call in order, each found when it is asked for: most calls need the first only.
 *
 * Tier after tier. Within one, two are drawn by weight, and the first of them comes first unless it is clearly busier (the power
 * of two choices); and so on among the rest. A hash of `affinity` draws one, so that calls with the same affinity have the same
 * order.
 */
export class CandidateOrder {
  readonly #tiers: readonly ModelTier[];
  readonly #affinity: string | null;
  readonly #dependencies: PlanDependencies;
  readonly #found: Candidate[] = [];
  #begun = 0;
  /** Of the tier that was begun last: what is left and the last one, its index, and their hashed numbers. */
  #rest: Tier = [];
  #taken = -1;
  #units: readonly number[] | null = null;

  /** No tier is empty. */
  constructor(tiers: readonly ModelTier[], affinity: string | null, dependencies: PlanDependencies) {
    this.#tiers = tiers;
    this.#affinity = affinity;
    this.#dependencies = dependencies;
  }

  get several(): boolean {
    return (this.#tiers[0]?.deployments.length ?? 0) > 1 || this.at(1) !== null;
  }

  at(index: number): Candidate | null {
    while (this.#found.length <= index) if (!this.#findNext()) return null;
    return this.#found[index] ?? null;
  }

  find(holds: (candidate: Candidate) => boolean): Candidate | null {
    for (let index = 0; ; index++) {
      const candidate = this.at(index);
      if (candidate === null || holds(candidate)) return candidate;
    }
  }

  all(): readonly Candidate[] {
    while (this.#findNext());
    return this.#found;
  }

  /** Without finding their order. */
  every(holds: (deployment: Deployment) => boolean): boolean {
    return this.#tiers.every(({ deployments }) => deployments.every(holds));
  }

  #findNext(): boolean {
    this.#leaveTaken();
    if (this.#rest.length === 0 && !this.#beginTier()) return false;
    const candidate = this.#rest.length < 2 ? this.#candidate(0) : this.#drawn();
    if (candidate === null) return false;
    this.#taken = this.#rest.indexOf(candidate.deployment);
    this.#found.push(candidate);
    return true;
  }

  #drawn(): Candidate | null {
    const { chance } = this.#dependencies;
    if (this.#units !== null) return this.#candidate(leastIndex(this.#rest, this.#units));
    const index = drawnIndex(this.#rest, chance.unit());
    const first = this.#candidate(index);
    const other = drawnIndex(this.#rest, chance.unit());
    const second = other === index ? null : this.#candidate(other);
    return first !== null && second !== null && isBusier(first, second) ? second : first;
  }

  #candidate(index: number): Candidate | null {
    const deployment = this.#rest[index];
    const tier = this.#tiers[this.#begun - 1];
    if (deployment === undefined || tier === undefined) return null;
    const circuit = this.#dependencies.circuits.of(deployment.id);
    return { model: tier.model, deployment, circuit, heldBack: this.#holdsBack(circuit), tries: 0 };
  }

  /** Stable for one conversation. */
  #holdsBack(circuit: Circuit): boolean {
    if (!circuit.isRecovering) return false;
    const { chance, clock } = this.#dependencies;
    const unit = this.#affinity === null ? chance.unit() : unitOf(`${circuit.deploymentId}\n${this.#affinity}`);
    return unit >= circuit.share(clock.monotonic());
  }

  #leaveTaken(): void {
    if (this.#taken < 0) return;
    this.#rest = this.#rest.length < 2 ? [] : this.#rest.toSpliced(this.#taken, 1);
    this.#units = this.#units?.toSpliced(this.#taken, 1) ?? null;
    this.#taken = -1;
  }

  /** Models may share deployments. */
  #beginTier(): boolean {
    while (this.#rest.length === 0) {
      const tier = this.#tiers[this.#begun++];
      if (tier === undefined) return false;
      const { deployments } = tier;
      this.#rest = this.#found.length === 0 ? deployments : deployments.filter(({ id }) => !this.#has(id));
    }
    const affinity = this.#rest.length < 2 ? null : this.#affinity;
    this.#units = affinity === null ? null : this.#rest.map(({ id }) => unitOf(`${affinity}\n${id}`));
    return true;
  }

  #has(deploymentId: string): boolean {
    return this.#found.some(({ deployment }) => deployment.id === deploymentId);
  }
}

/** Draws one by weight. `unit` is in [0, 1). */
function drawnIndex(tier: Tier, unit: number): number {
  let total = 0;
  for (const deployment of tier) total += weightOf(deployment);
  let left = unit * total;
  for (let index = 0; index < tier.length - 1; index++) {
    left -= weightOf(tier[index]);
    if (left < 0) return index;
  }
  return tier.length - 1;
}

/**
 * The same with a number for each from a hash: weighted rendezvous hashing. When a deployment goes, only its own conversations
 * move. Source: Efraimidis and Spirakis, "Weighted random sampling with a reservoir", 2006.
 */
function leastIndex(tier: Tier, units: readonly number[]): number {
  let least = 0;
  let leastDraw = Number.POSITIVE_INFINITY;
  for (let index = 0; index < tier.length; index++) {
    const draw = -Math.log(1 - (units[index] ?? 0)) / weightOf(tier[index]);
    if (draw >= leastDraw) continue;
    least = index;
    leastDraw = draw;
  }
  return least;
}

/** Smaller differences are chance, and do not change the shares that weights give. */
const busierBy = 2;

/** By calls in flight for its weight, and by latency. */
function isBusier(first: Candidate, second: Candidate): boolean {
  const weights = weightOf(first.deployment) + weightOf(second.deployment);
  const known = first.circuit.latencyMs !== null && second.circuit.latencyMs !== null;
  const cost = ({ deployment, circuit: { inFlight, latencyMs } }: Candidate): number =>
    (1 + (inFlight * weights) / (2 * weightOf(deployment))) * (known ? Math.max(1, latencyMs ?? 1) : 1);
  return cost(first) > busierBy * cost(second);
}

/** All of a tier have a weight, or none of them has one. */
function weightOf(deployment: Deployment | undefined): number {
  return deployment === undefined || deployment.weight <= 0 ? 1 : deployment.weight;
}

/** A text as a number in [0, 1), evenly spread. */
function unitOf(text: string): number {
  return Number(BigInt.asUintN(53, Bun.hash.wyhash(text))) / 2 ** 53;
}
