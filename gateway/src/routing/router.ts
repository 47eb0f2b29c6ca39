import { type Deployment, Failure, type Model, oncePerObject } from "#core/index.ts";
import type { Chance } from "#ports/index.ts";
import type { DeploymentState } from "./circuit.ts";
import { Circuits, type CircuitsOptions } from "./circuits.ts";
import { type Place, placesOf } from "./explanation.ts";
import { CandidateOrder, type ModelTier, type PlanDependencies, type RoutingConstraints, tiersOf } from "./order.ts";
import { Plan } from "./plan.ts";

export interface RouterOptions extends CircuitsOptions {
  readonly chance: Chance;
}

type CanServe = (deployment: Deployment) => boolean;
const everything: CanServe = () => true;

export class Router {
  readonly #dependencies: PlanDependencies;

  constructor(options: RouterOptions) {
    const { clock, chance } = options;
    this.#dependencies = { clock, chance, circuits: new Circuits(options) };
  }

  /**
   * Plans a call. `models` are the requested one and its granted fallbacks, in order. Throws no_deployment_available
   * without an enabled deployment, unsupported_by_model if none is suitable.
   */
  plan(models: readonly Model[], constraints: RoutingConstraints = {}): Plan {
    const tiers = this.#tiersFor(models, constraints);
    const order = new CandidateOrder(tiers, constraints.affinity ?? null, this.#dependencies);
    if (order.at(0) !== null) return new Plan(order, { models, constraints }, this.#dependencies);
    const name = models[0]?.name ?? "";
    if (models.some((model) => suitableTiersOf(model)(constraints.canServe ?? everything).excluded)) {
      throw new Failure("unsupported_by_model", `The model "${name}" cannot be used on this endpoint.`, {
        param: "model",
      });
    }
    throw new Failure(
      "no_deployment_available",
      `No deployment of the model ${name} is enabled at the moment; ask the gateway's operator.`,
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
    if (provider !== null) return models.flatMap((model) => findSuitableTiers(model, canServe, provider).tiers);
    const [only] = models;
    if (models.length === 1 && only !== undefined) return suitableTiersOf(only)(canServe).tiers;
    return models.flatMap((model) => suitableTiersOf(model)(canServe).tiers);
  }
}

const suitableTiersOf = oncePerObject((model: Model) => {
  return oncePerObject((canServe: CanServe) => findSuitableTiers(model, canServe, null));
});

function findSuitableTiers(model: Model, canServe: CanServe, provider: string | null) {
  const all = tiersOf(model, provider);
  const suiting = all.map((tier) => tier.filter(canServe));
  return {
    tiers: suiting.filter(({ length }) => length > 0).map((deployments) => ({ model, deployments })),
    excluded: suiting.some((tier, index) => tier.length < (all[index]?.length ?? 0)),
  };
}
