import { type Deployment, Failure, type Model } from "#core/index.ts";
import type { Chance, Clock, HealthBoard, Observer } from "#ports/index.ts";
import { type RoutingConstraints, tiersOf } from "./candidates.ts";
import type { DeploymentState } from "./circuit.ts";
import { type CheckDeployment, Circuits } from "./circuits.ts";
import { CandidateOrder, type ModelTier } from "./order.ts";
import { OrderedPlan, type Plan, type PlanDependencies } from "./plan.ts";
import { type Place, placesOf } from "./story.ts";

export interface RouterOptions {
  readonly board: HealthBoard;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly observer: Observer;
  /** Left out: a call probes a deployment that was down. */
  readonly check?: CheckDeployment;
}

export interface Router {
  /**
   * The plan of one call: `models` are the one asked for and its granted fallbacks, in order.
   * Throws no_deployment_available when none of them has an enabled deployment, unsupported_by_model when those that
   * it has do not suit.
   */
  plan(models: readonly Model[], constraints?: RoutingConstraints): Plan;
  /** Whether some of the models' deployments are equals, so that a call has to be drawn among them or held to one. */
  hasEquals(models: readonly Model[], constraints: RoutingConstraints): boolean;
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
  /** None of them is empty. */
  readonly tiers: readonly ModelTier[];
  readonly unsuited: boolean;
}

class DeploymentRouter implements Router {
  readonly #options: RouterOptions;
  readonly #circuits: Circuits;
  readonly #dependencies: PlanDependencies;
  /** By model object, because a new catalog brings new objects, and by the function that says what suits. */
  readonly #tiers = new WeakMap<Model, WeakMap<CanServe, Suited>>();

  constructor(options: RouterOptions) {
    const { clock, chance } = options;
    this.#options = options;
    this.#circuits = new Circuits(options);
    this.#dependencies = { clock, chance, circuits: this.#circuits };
  }

  plan(models: readonly Model[], constraints: RoutingConstraints = {}): Plan {
    const order = new CandidateOrder(
      this.#tiersFor(models, constraints),
      constraints.affinity ?? null,
      this.#dependencies,
    );
    if (order.at(0) !== null) return new OrderedPlan(order, { models, constraints }, this.#dependencies);
    const name = models[0]?.name ?? "";
    if (models.some((model) => this.#suited(model, constraints.canServe).unsuited)) {
      throw new Failure("unsupported_by_model", `The model "${name}" cannot be used on this endpoint.`, {
        param: "model",
      });
    }
    throw new Failure(
      "no_deployment_available",
      `No deployment of the model ${name} is enabled at the moment; ask whoever runs the gateway.`,
    );
  }

  hasEquals(models: readonly Model[], constraints: RoutingConstraints): boolean {
    return this.#tiersFor(models, constraints).some(({ deployments }) => deployments.length > 1);
  }

  leftOut(models: readonly Model[], constraints: RoutingConstraints = {}): readonly Place[] {
    return placesOf({ models, constraints, candidates: [], problems: null });
  }

  states(): readonly DeploymentState[] {
    return this.#circuits.states(this.#options.clock.monotonic());
  }

  #tiersFor(models: readonly Model[], { canServe, provider = null }: RoutingConstraints): readonly ModelTier[] {
    // An account that gets nothing new still has what it keeps.
    if (provider !== null) return models.flatMap((model) => tiersAt(provider, model, canServe ?? everything));
    const [only] = models;
    return models.length === 1 && only !== undefined
      ? this.#suited(only, canServe).tiers
      : models.flatMap((model) => this.#suited(model, canServe).tiers);
  }

  #suited(model: Model, canServe: CanServe = everything): Suited {
    let known = this.#tiers.get(model);
    if (known === undefined) {
      known = new WeakMap();
      this.#tiers.set(model, known);
    }
    let suited = known.get(canServe);
    if (suited === undefined) {
      const all = tiersOf(model);
      const suiting = all.map((tier) => tier.filter(canServe));
      suited = {
        tiers: suiting.filter(({ length }) => length > 0).map((deployments) => ({ model, deployments })),
        unsuited: suiting.some((tier, index) => tier.length < (all[index]?.length ?? 0)),
      };
      known.set(canServe, suited);
    }
    return suited;
  }
}

function tiersAt(provider: string, model: Model, canServe: CanServe): readonly ModelTier[] {
  const tiers = tiersOf(model, provider).map((tier) => ({ model, deployments: tier.filter(canServe) }));
  return tiers.filter(({ deployments }) => deployments.length > 0);
}
