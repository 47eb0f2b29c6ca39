/**
 * routing: which deployment next. A *plan* is the order of candidates for one call; a *selection* is one candidate handed out
 * for one attempt, ended exactly once; a *circuit* is what is known of one deployment (calls in flight, its *breaker*).
 *
 * Circuits are kept by deployment id. Two models that lead to the same upstream model have two circuits: replicas tell
 * each other deployment ids and nothing else, and five failures is all that the second one has to learn.
 *
 * Calls of one conversation prefer one deployment (*affinity*): the order is drawn from a hash in the place of chance, so
 * that every replica draws the same without being told. What only one account knows is asked of that account alone.
 *
 * When the world is down: an unhealthy deployment is passed over while another is healthy, the last one left is always tried;
 * repeats are bounded per call and over all calls, so that a failing upstream gets hardly more calls than a well one.
 */

export type { RoutingConstraints } from "./candidates.ts";
export type { DeploymentState } from "./circuit.ts";
export type { Plan } from "./plan.ts";
export { createRouter, type Router } from "./router.ts";
export type { Selection } from "./selection.ts";
export type { Place, PlanStory } from "./story.ts";
