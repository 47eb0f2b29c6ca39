import { type Deployment, Failure, type Model, oncePerObject } from "#core/index.ts";
import type { Chance } from "#ports/index.ts";
import type { DeploymentState } from "./circuit.ts";
import { Circuits, type CircuitsOptions } from "./circuits.ts";
import { CandidateOrder, type ModelTier, type PlanDependencies, type RoutingConstraints, tiersOf } from "./order.ts";
import { Plan } from "./plan.ts";
import { type Place, placesOf } from "./story.ts";

export interface RouterOptions extends CircuitsOptions {
  readonly chance: Chance;
}

type CanServe = (deployment: Deployment) => boolean;
const everything: CanServe = () => true;

interface Suited {
  /** None of them is empty. */
  readonly tiers: readonly ModelTier[];
  readonly unsuited: boolean;
}

export class Router {
  readonly #dependencies: PlanDependencies;

  constructor(options: RouterOptions) {
    const { clock, chance } = options;
    this.#dependencies = { clock, chance, circuits: new Circuits(options) };
  }

  /**
   * The plan of one call: `models` are the one asked for and its granted fallbacks, in order.
   * Throws no_deployment_available when none of them has an enabled deployment, unsupported_by_model when those that
   * it has do not suit.
   */
  plan(models: readonly Model[], constraints: RoutingConstraints = {}): Plan {
    const tiers = this.#tiersFor(models, constraints);
    const order = new CandidateOrder(tiers, constraints.affinity ?? null, this.#dependencies);
    if (order.at(0) !== null) return new Plan(order, { models, constraints }, this.#dependencies);
    const name = models[0]?.name ?? "";
    if (models.some((model) => suitedAnywhere(model)(constraints.canServe ?? everything).unsuited)) {
      throw new Failure("unsupported_by_model", `The model "${name}" cannot be used on this endpoint.`, {
        param: "model",
      });
    }
    throw new Failure(
      "no_deployment_available",
      `No deployment of the model ${name} is enabled at the moment; ask whoever runs the gateway.`,
    );
  }

  /** Whether some of the models' deployments are equals, so that a call has to be drawn among them or held to one. */
  hasEquals(models: readonly Model[], constraints: RoutingConstraints): boolean {
    return this.#tiersFor(models, constraints).some(({ deployments }) => deployments.length > 1);
  }

  /** Why none of the models' deployments can take a call of which there is no plan. */
  leftOut(models: readonly Model[], constraints: RoutingConstraints = {}): readonly Place[] {
    return placesOf({ models, constraints, candidates: [], problems: null });
  }

  states(): readonly DeploymentState[] {
    const { circuits, clock } = this.#dependencies;
    return circuits.states(clock.monotonic());
  }

  #tiersFor(
    models: readonly Model[],
    { canServe = everything, provider = null }: RoutingConstraints,
  ): readonly ModelTier[] {
    // An account of weight 0 still has what it keeps.
    if (provider !== null) return models.flatMap((model) => suitedOf(model, canServe, provider).tiers);
    const [only] = models;
    if (models.length === 1 && only !== undefined) return suitedAnywhere(only)(canServe).tiers;
    return models.flatMap((model) => suitedAnywhere(model)(canServe).tiers);
  }
}

const suitedAnywhere = oncePerObject((model: Model) => {
  return oncePerObject((canServe: CanServe) => suitedOf(model, canServe, null));
});

function suitedOf(model: Model, canServe: CanServe, provider: string | null): Suited {
  const all = tiersOf(model, provider);
  const suiting = all.map((tier) => tier.filter(canServe));
  return {
    tiers: suiting.filter(({ length }) => length > 0).map((deployments) => ({ model, deployments })),
    unsuited: suiting.some((tier, index) => tier.length < (all[index]?.length ?? 0)),
  };
}
