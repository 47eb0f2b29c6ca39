import type { Exchange } from "./dialect.ts";
import { jsonExchange } from "./json-exchange.ts";
import type { Task } from "./task.ts";
import type { TaskBook } from "./task-desk.ts";

/** A question about a task, answered with `body`. Presets reach it as `… poll`. */
export function pollExchange(taskBook: TaskBook, task: Task, dialect: string, body: () => unknown): Exchange {
  return jsonExchange({ model: task.model, aside: `${dialect} poll`, inherited: taskBook.look(task), act: body });
}
