import type { Task } from "#core/index.ts";
import type { Delivery } from "#ports/index.ts";
import type { TaskDependencies } from "../dependencies.ts";
import { taskAnswer } from "../show.ts";

/** What the caller is told of a task that has ended; null when it did not ask to be told. */
export function deliveryFor(
  { ids, publicUrl }: Pick<TaskDependencies, "ids" | "publicUrl">,
  task: Task,
  now: number,
): Delivery | null {
  if (task.callbackUrl === null) return null;
  const message = {
    type: `video.task.${task.state}`,
    timestamp: new Date(now).toISOString(),
    data: taskAnswer(task, publicUrl),
  };
  return {
    id: ids.next("msg_"),
    taskId: task.id,
    workspaceId: task.workspaceId,
    url: task.callbackUrl,
    body: JSON.stringify(message),
    tries: 0,
    dueAt: now,
    createdAt: now,
    lastStatus: null,
    lastError: null,
    deliveredAt: null,
  };
}
