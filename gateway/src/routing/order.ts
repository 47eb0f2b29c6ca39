import type { Deployment, Model } from "#core/index.ts";
import type { Chance, Clock } from "#ports/index.ts";
import type { Circuit } from "./circuit.ts";
import type { Circuits } from "./circuits.ts";

export interface Candidate {
  readonly model: Model;
  readonly deployment: Deployment;
  readonly circuit: Circuit;
  /** It is recovering, and this call is outside its share. */
  readonly heldBack: boolean;
  tries: number;
}

/** Deployments of one model with equal priority. */
export type Tier = readonly Deployment[];

/** Enabled deployments by priority, optionally of one provider. Weight 0 drains a deployment, unless all weights of its tier are 0. */
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
  /** Results are cached per function. */
  readonly canServe?: (deployment: Deployment) => boolean;
  /** Calls of one conversation share it and get the same order, for upstream caches and encrypted items. */
  readonly affinity?: string | null;
  /** Only this provider, which stores something that the call needs. */
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
 * The candidates of a call, computed on demand because most calls need only the first.
 *
 * Tiers in order. In a tier, two candidates are drawn by weight and the first wins unless it is clearly busier (power of
 * two choices), and so on for the rest. With `affinity`, a hash draws instead, so that calls with the same affinity get the
 * same order.
 */
export class CandidateOrder {
  readonly #tiers: readonly ModelTier[];
  readonly #affinity: string | null;
  readonly #dependencies: PlanDependencies;
  readonly #found: Candidate[] = [];
  #begun = 0;
  /** The current tier: remaining deployments, the index of the last candidate, and hash values. */
  #rest: Tier = [];
  #lastIndex = -1;
  #units: readonly number[] | null = null;

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

  /** Does not compute the order. */
  every(holds: (deployment: Deployment) => boolean): boolean {
    return this.#tiers.every(({ deployments }) => deployments.every(holds));
  }

  #findNext(): boolean {
    this.#removeLast();
    if (this.#rest.length === 0 && !this.#beginTier()) return false;
    const candidate = this.#rest.length < 2 ? this.#candidate(0) : this.#drawn();
    if (candidate === null) return false;
    this.#lastIndex = this.#rest.indexOf(candidate.deployment);
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

  /** Stable per conversation. */
  #holdsBack(circuit: Circuit): boolean {
    if (!circuit.isRecovering) return false;
    const { chance, clock } = this.#dependencies;
    const unit = this.#affinity === null ? chance.unit() : unitOf(`${circuit.deploymentId}\n${this.#affinity}`);
    return unit >= circuit.share(clock.monotonic());
  }

  #removeLast(): void {
    if (this.#lastIndex < 0) return;
    this.#rest = this.#rest.length < 2 ? [] : this.#rest.toSpliced(this.#lastIndex, 1);
    this.#units = this.#units?.toSpliced(this.#lastIndex, 1) ?? null;
    this.#lastIndex = -1;
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

/** `unit` is in [0, 1). */
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
 * Weighted rendezvous hashing: if a deployment is removed, only its own conversations move. Source: Efraimidis and
 * Spirakis, "Weighted random sampling with a reservoir", 2006.
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

/** Smaller differences are random and must not change the weights' shares. */
const busierBy = 2;

/** By calls in flight per weight, and by latency. */
function isBusier(first: Candidate, second: Candidate): boolean {
  const weights = weightOf(first.deployment) + weightOf(second.deployment);
  const haveLatency = first.circuit.latencyMs !== null && second.circuit.latencyMs !== null;
  const cost = ({ deployment, circuit: { inFlight, latencyMs } }: Candidate): number =>
    (1 + (inFlight * weights) / (2 * weightOf(deployment))) * (haveLatency ? Math.max(1, latencyMs ?? 1) : 1);
  return cost(first) > busierBy * cost(second);
}

/** In a tier all deployments have a weight, or none has. */
function weightOf(deployment: Deployment | undefined): number {
  return deployment === undefined || deployment.weight <= 0 ? 1 : deployment.weight;
}

/** Hashes a text to [0, 1). */
function unitOf(text: string): number {
  return Number(BigInt.asUintN(53, Bun.hash.wyhash(text))) / 2 ** 53;
}
