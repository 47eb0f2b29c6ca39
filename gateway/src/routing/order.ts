import type { Deployment, Model } from "#core/index.ts";
import type { Chance } from "#ports/index.ts";
import { type Candidate, drawByWeight, type Tier, unitsOf } from "./candidates.ts";
import type { Circuits } from "./circuits.ts";

/** Equals of one model, as they stand in an order. */
export interface ModelTier {
  readonly model: Model;
  readonly deployments: Tier;
}

export interface OrderDependencies {
  readonly chance: Chance;
  readonly circuits: Circuits;
}

/**
 * The candidates of one call in order, each found when it is asked for: most calls need the first only.
 *
 * Tier after tier. Within one, each comes first as often as its weight says, and so on among the rest: by chance, or by a hash of
 * `affinity`, which gives calls with the same affinity the same order.
 */
export class CandidateOrder {
  readonly #tiers: readonly ModelTier[];
  readonly #affinity: string | null;
  readonly #dependencies: OrderDependencies;
  readonly #found: Candidate[] = [];
  #begun = 0;
  /** Of the tier that was begun last: what was not found before the last one, where the last one stands in it, and their numbers. */
  #rest: Tier = [];
  #taken = -1;
  #units: readonly number[] | null = null;

  /** No tier is empty. */
  constructor(tiers: readonly ModelTier[], affinity: string | null, dependencies: OrderDependencies) {
    this.#tiers = tiers;
    this.#affinity = affinity;
    this.#dependencies = dependencies;
  }

  /** There is more than one. */
  get several(): boolean {
    return (this.#tiers[0]?.deployments.length ?? 0) > 1 || this.at(1) !== null;
  }

  /** Null behind the last. */
  at(index: number): Candidate | null {
    while (this.#found.length <= index) if (!this.#findNext()) return null;
    return this.#found[index] ?? null;
  }

  /** The first of which `holds` is true. */
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

  /** Whether it holds of all, which is told without finding their order. */
  every(holds: (deployment: Deployment) => boolean): boolean {
    return this.#tiers.every(({ deployments }) => deployments.every(holds));
  }

  #findNext(): boolean {
    this.#leaveTaken();
    if (this.#rest.length === 0 && !this.#beginTier()) return false;
    const { chance, circuits } = this.#dependencies;
    this.#taken = this.#rest.length < 2 ? 0 : drawByWeight(this.#rest, this.#units, chance);
    const deployment = this.#rest[this.#taken];
    const tier = this.#tiers[this.#begun - 1];
    if (deployment === undefined || tier === undefined) return false;
    this.#found.push({ model: tier.model, deployment, circuit: circuits.of(deployment.id), tries: 0 });
    return true;
  }

  #leaveTaken(): void {
    if (this.#taken < 0) return;
    this.#rest = this.#rest.length < 2 ? [] : this.#rest.toSpliced(this.#taken, 1);
    this.#units = this.#units?.toSpliced(this.#taken, 1) ?? null;
    this.#taken = -1;
  }

  /** What stands in the order already is left out: models may share deployments. */
  #beginTier(): boolean {
    while (this.#rest.length === 0) {
      const tier = this.#tiers[this.#begun++];
      if (tier === undefined) return false;
      const { deployments } = tier;
      this.#rest = this.#found.length === 0 ? deployments : deployments.filter(({ id }) => !this.#has(id));
    }
    const drawn = this.#affinity === null || this.#rest.length < 2;
    this.#units = drawn ? null : unitsOf(this.#rest, this.#affinity);
    return true;
  }

  #has(deploymentId: string): boolean {
    return this.#found.some(({ deployment }) => deployment.id === deploymentId);
  }
}
