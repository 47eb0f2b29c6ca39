/**
 * routing: which deployment is tried next.
 *
 * plan       the deployments for one call, in order.
 * selection  one deployment, given out for one attempt. It is ended exactly once.
 * circuit    what is known of one deployment: calls in flight, and its breaker. Two models with the same upstream model have
 *            two circuits.
 * affinity   calls of one conversation prefer one deployment. The order comes from a hash, so every process has the same.
 *
 * A call that goes on from what only one account knows goes to that account alone.
 *
 * When upstreams fail: a refused call goes on to every other deployment. One that is down or cools is passed over while another
 * is well, and the last one left is always tried. Repeats of one deployment are bounded for that deployment, so one that
 * fails gets hardly more calls than one that is well. One that was down comes back in steps.
 */
export type { DeploymentState } from "./circuit.ts";
export type { CheckDeployment } from "./circuits.ts";
export type { RoutingConstraints } from "./order.ts";
export type { Plan } from "./plan.ts";
export { placeSentence } from "./remarks.ts";
export { Router } from "./router.ts";
export type { Selection } from "./selection.ts";
export type { Place, PlanStory } from "./story.ts";
