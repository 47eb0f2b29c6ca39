import type { Deployment, Model } from "#core/index.ts";
import type { Chance, Clock } from "#ports/index.ts";
import { type Candidate, drawByWeight, isBusier, type Tier, unitOf, unitsOf } from "./candidates.ts";
import type { Circuit } from "./circuit.ts";
import type { Circuits } from "./circuits.ts";

/** Equals of one model, as they stand in an order. */
export interface ModelTier {
  readonly model: Model;
  readonly deployments: Tier;
}

export interface OrderDependencies {
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
    const candidate = this.#rest.length < 2 ? this.#candidate(0) : this.#drawn();
    if (candidate === null) return false;
    this.#taken = this.#rest.indexOf(candidate.deployment);
    this.#found.push(candidate);
    return true;
  }

  #drawn(): Candidate | null {
    const { chance } = this.#dependencies;
    const index = drawByWeight(this.#rest, this.#units, chance);
    const first = this.#candidate(index);
    if (this.#units !== null) return first;
    const other = drawByWeight(this.#rest, null, chance);
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

  /** Of one conversation always the same, while the part that comes back only grows. */
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
