/**
 * tasks: videos as durable work. A task is a row before anything is sent, and the row outlives whoever works on it. A *pass*
 * is one worker's time with a task under its lease; a *look* is one question to the upstream that has it; a *verdict* is how
 * it ended; a *hold* is the money set aside until then; a *stage* is a part of the walk over deployments.
 *
 * Promises: what may have arrived at an upstream is never sent again; it is looked for in the vendor's list or waits for its
 * deadline. State, ledger entry and the caller's message change in one transaction, once. A look that fails ends nothing
 * before the deadline. A fallback that serves is paid at the price of the model that was asked for.
 *
 * When the world is down: without the store nothing is accepted and nothing moves; leases run out and others go on. Without
 * the upstream, tasks wait. Several processes may share one store.
 */

export type { CreateCall } from "./accept/create.ts";
export type { SentBody, TaskBody } from "./accept/task-body.ts";

export type { ContentWish } from "./deliver/open-result.ts";
export { webhookProblem } from "./deliver/webhook-problem.ts";
export { webhookHeaders } from "./deliver/webhook-signature.ts";
export type { VideoTasksOptions } from "./options.ts";
export { pollAfterMs, requestShown, taskAnswer, taskCost } from "./show.ts";
export { makesVideos } from "./video-lane-match.ts";
export { VideoTasks } from "./video-tasks.ts";
