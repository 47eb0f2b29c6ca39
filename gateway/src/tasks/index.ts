/**
 * tasks: videos as durable work. A task is a row in the database before anything is sent, and outlives the process.
 *
 * pass   one worker's time with a task, under a lease.
 * poll   one request to the upstream about a task.
 * hold   money that is reserved until the task ends.
 * stage  a group of deployments that are tried in order.
 *
 * Promises: a request that may have reached an upstream is never sent again. The task is searched in the vendor's list or
 * waits for its deadline. State, ledger entry and webhook change in one transaction, once. A failed poll ends nothing
 * before the deadline. A fallback is charged at its own price. Without the database no task is accepted or advanced.
 * Without the upstream tasks wait. Several processes may share one database.
 */

export type { CreateCall } from "./accept/create.ts";
export type { SentBody, TaskBody } from "./accept/task-body.ts";
export { noSuchTask } from "./accept/validate-video.ts";

export type { ContentOptions } from "./deliver/content.ts";
export { webhookHeaders } from "./deliver/deliveries.ts";
export type { VideoTasksOptions } from "./options.ts";
export { taskHold } from "./settle/holds.ts";
export type { LeasedTask, PollRequest as PollAsk } from "./store/task-leases.ts";
export type { TaskFilter, TaskPage } from "./store/task-rows.ts";
export { createTaskStore, type TaskStore } from "./store/task-store.ts";
export { pollAfterMs, requestForDisplay as requestShown, taskAnswer, taskCost } from "./task-answer.ts";
export { makesVideos } from "./video-lanes.ts";
export { VideoTasks } from "./video-tasks.ts";
