/**
 * routing: which deployment is tried next.
 *
 * plan       the deployments for one call, in order.
 * selection  a deployment for one attempt. It must be ended exactly once.
 * circuit    the state of one deployment: calls in flight and breaker. Two models with the same upstream model have two
 * circuits.
 * affinity   calls of one conversation prefer one deployment, by a hash that is the same in every process.
 *
 * A call that depends on data of one account uses that account only.
 *
 * When upstreams fail: a refused call tries every other deployment. Deployments that are down or cooling are skipped while
 * another is healthy, and the last one is always tried. Repeats are limited per deployment, so a failing one gets hardly
 * more calls. A recovered deployment gets its traffic back in steps.
 */
export type { DeploymentState } from "./circuit.ts";
export type { CheckDeployment } from "./circuits.ts";
export type { Place, PlanExplanation as PlanStory } from "./explanation.ts";
export type { RoutingConstraints } from "./order.ts";
export type { Plan } from "./plan.ts";
export { placeSentence } from "./remarks.ts";
export { Router } from "./router.ts";
export type { Selection } from "./selection.ts";
