/**
 * tasks: videos as durable work. A task is a row in the database before anything is sent, and outlives the process.
 *
 * pass   one worker's time with a task, under a lease.
 * poll   one question to the upstream about a task.
 * hold   money that is set aside until the task ends.
 * stage  a group of deployments that are tried in order.
 *
 * Promises: what may have arrived at an upstream is never sent again. It is looked for in the vendor's list, or waits for its
 * deadline. State, ledger entry and the caller's message change in one transaction, once. A poll that fails ends nothing
 * before the deadline. A fallback is paid at its own price. Without the database nothing is
 * accepted and nothing moves. Without the upstream tasks wait. Several processes may share one database.
 */

export type { CreateCall } from "./accept/create.ts";
export type { SentBody, TaskBody } from "./accept/task-body.ts";
export { noSuchTask } from "./accept/validate-video.ts";

export type { ContentOptions } from "./deliver/content.ts";
export { webhookHeaders, webhookProblem } from "./deliver/deliveries.ts";
export type { VideoTasksOptions } from "./options.ts";
export { pollAfterMs, requestShown, taskAnswer, taskCost } from "./show.ts";
export type { Delivery, LeasedTask, PollAsk } from "./store/task-leases.ts";
export type { TaskFilter, TaskPage } from "./store/task-rows.ts";
export { createTaskStore, type TaskStore } from "./store/task-store.ts";
export { makesVideos } from "./video-lanes.ts";
export { VideoTasks } from "./video-tasks.ts";
