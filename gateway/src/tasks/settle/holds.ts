import { bounds, finalTaskStates, type Task, tokensOf } from "#core/index.ts";
import type { Admission, Permit, Spent } from "#limits/index.ts";
import type { TaskStore } from "#ports/index.ts";

/** Money set aside by this process for tasks that are not final, by task id. */
export class Holds {
  readonly #permits = new Map<string, Permit>();

  get size(): number {
    return this.#permits.size;
  }

  has(taskId: string): boolean {
    return this.#permits.has(taskId);
  }

  keep(taskId: string, permit: Permit): void {
    this.#permits.set(taskId, permit);
  }

  /** After the task's end is stored. Nothing happens for a task that another process holds. */
  settle(taskId: string, spent: Spent): void {
    const permit = this.#permits.get(taskId);
    if (permit === undefined) return;
    this.#permits.delete(taskId);
    permit.settle(spent);
  }

  /**
   * Asks what became of the oldest tasks here: another process may have ended them. Those that are not final go to the
   * end of the row. Each pass asks for so few that a long row costs no more than a short one.
   */
  async sweep(store: Pick<TaskStore, "findById">, admission: Pick<Admission, "settled">): Promise<void> {
    const oldest = [...this.#permits.keys()].slice(0, bounds.taskHoldsSweepMax);
    for (const taskId of oldest) {
      const task = await store.findById(taskId);
      const permit = this.#permits.get(taskId);
      if (permit === undefined) continue;
      if (task === null) this.settle(taskId, { tokens: 0 });
      else if (finalTaskStates.has(task.state)) this.#settleElsewhere(task, admission);
      else {
        this.#permits.delete(taskId);
        this.#permits.set(taskId, permit);
      }
    }
  }

  /** Another process has stored its entry; the budgets here hear of it only now. */
  #settleElsewhere(task: Task, admission: Pick<Admission, "settled">): void {
    const { attemptId, workspaceId, groupId, keyId, createdAt, costNanoUsd } = task;
    admission.settled({ attemptId, at: createdAt, workspaceId, groupId, keyId, costNanoUsd: costNanoUsd ?? 0 });
    this.settle(task.id, spentOn(task));
  }
}

/** What a final task has used. */
export function spentOn(task: Pick<Task, "usage">): Spent {
  return { tokens: task.usage === null ? 0 : tokensOf(task.usage) };
}
