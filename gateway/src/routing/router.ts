import { bounds, type Deployment, Failure, type Model } from "#core/index.ts";
import type { Chance, Clock, HealthBoard, Observer } from "#ports/index.ts";
import { arrange, type Candidate, type RoutingConstraints, type Tier, tiersOf } from "./candidates.ts";
import { Circuit, type DeploymentState } from "./circuit.ts";
import { OrderedPlan, type Plan, type PlanDependencies } from "./plan.ts";
import { RetryBudget } from "./retry-budget.ts";
import { type Place, placesOf } from "./story.ts";

export interface RouterOptions {
  readonly board: HealthBoard;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly observer: Observer;
}

export interface Router {
  /**
   * The plan of one call: `models` are the one asked for and its granted fallbacks, in order.
   * Throws no_deployment_available when none of them has an enabled deployment, unsupported_by_model when those that
   * it has do not suit.
   */
  plan(models: readonly Model[], constraints?: RoutingConstraints): Plan;
  /** Why none of the models' deployments can take a call of which there is no plan. */
  leftOut(models: readonly Model[], constraints?: RoutingConstraints): readonly Place[];
  /** What is known of each deployment that was called since the start. */
  states(): readonly DeploymentState[];
}

export function createRouter(options: RouterOptions): Router {
  return new DeploymentRouter(options);
}

type CanServe = (deployment: Deployment) => boolean;
const everything: CanServe = () => true;

interface Suited {
  readonly tiers: readonly Tier[];
  readonly unsuited: boolean;
}

class DeploymentRouter implements Router {
  readonly #options: RouterOptions;
  readonly #dependencies: PlanDependencies;
  readonly #circuits = new Map<string, Circuit>();
  /** By model object, because a new catalog brings new objects, and by the function that says what suits. */
  readonly #tiers = new WeakMap<Model, WeakMap<CanServe, Suited>>();

  constructor(options: RouterOptions) {
    this.#options = options;
    this.#dependencies = { clock: options.clock, chance: options.chance, retries: new RetryBudget() };
  }

  plan(models: readonly Model[], constraints: RoutingConstraints = {}): Plan {
    const candidates: Candidate[] = [];
    const seen = models.length > 1 ? new Set<string>() : null;
    let unsuited = false;
    for (const model of models) unsuited = this.#append(candidates, seen, model, constraints) || unsuited;
    if (candidates.length > 0) return new OrderedPlan(candidates, { models, constraints }, this.#dependencies);
    const name = models[0]?.name ?? "";
    if (unsuited) {
      throw new Failure("unsupported_by_model", `The model "${name}" cannot be used on this endpoint.`, {
        param: "model",
      });
    }
    throw new Failure(
      "no_deployment_available",
      `No deployment of the model ${name} is enabled at the moment; ask whoever runs the gateway.`,
    );
  }

  leftOut(models: readonly Model[], constraints: RoutingConstraints = {}): readonly Place[] {
    return placesOf({ models, constraints, candidates: [], problems: null });
  }

  states(): readonly DeploymentState[] {
    const nowMs = this.#options.clock.monotonic();
    return [...this.#circuits.values()].map((circuit) => circuit.state(nowMs));
  }

  /** True when a deployment was left out because it does not suit the call. */
  #append(candidates: Candidate[], seen: Set<string> | null, model: Model, constraints: RoutingConstraints): boolean {
    const { tiers, unsuited } = this.#suited(model, constraints.canServe ?? everything);
    for (const tier of tiers) {
      for (const deployment of arrange(tier, constraints.affinity ?? null, this.#options.chance)) {
        if (seen !== null) {
          if (seen.has(deployment.id)) continue;
          seen.add(deployment.id);
        }
        if (constraints.provider != null && deployment.provider.id !== constraints.provider) continue;
        candidates.push({ model, deployment, circuit: this.#circuit(deployment.id), tries: 0 });
      }
    }
    return unsuited;
  }

  #suited(model: Model, canServe: CanServe): Suited {
    let known = this.#tiers.get(model);
    if (known === undefined) {
      known = new WeakMap();
      this.#tiers.set(model, known);
    }
    let suited = known.get(canServe);
    if (suited === undefined) {
      const all = tiersOf(model);
      const tiers = all.map((tier) => tier.filter(canServe));
      suited = { tiers, unsuited: tiers.some((tier, index) => tier.length < (all[index]?.length ?? 0)) };
      known.set(canServe, suited);
    }
    return suited;
  }

  #circuit(deploymentId: string): Circuit {
    const known = this.#circuits.get(deploymentId);
    if (known !== undefined) return known;
    if (this.#circuits.size >= bounds.circuitsMax) this.#forgetResting();
    const circuit = new Circuit(deploymentId, this.#options);
    this.#circuits.set(deploymentId, circuit);
    return circuit;
  }

  #forgetResting(): void {
    for (const [deploymentId, circuit] of this.#circuits) {
      if (circuit.atRest) this.#circuits.delete(deploymentId);
    }
  }
}
