import type { Exchange } from "./dialect.ts";
import { jsonExchange } from "./json-exchange.ts";
import type { Task } from "./task.ts";
import type { TaskStore } from "./task-store.ts";

/** A request for a task's state, answered with `body`. The name for its presets is `… poll`. */
export function pollExchange(tasks: TaskStore, task: Task, dialect: string, body: () => unknown): Exchange {
  return jsonExchange({ model: task.model, presetName: `${dialect} poll`, inherited: tasks.poll(task), act: body });
}
