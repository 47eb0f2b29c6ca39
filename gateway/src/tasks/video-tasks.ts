import type { BlobAnswer } from "#assets/index.ts";
import { bounds, finalTaskStates, type Principal, type Task, type TaskEvent, within } from "#core/index.ts";
import type { BackgroundResponses } from "#relay/index.ts";
import { type CreateCall, createTask } from "./accept/create.ts";
import { Materials, readTaskBody, type SentBody } from "./accept/task-body.ts";
import { noSuchTask } from "./accept/validate-video.ts";
import { holdForResponse, refreshResponse } from "./background.ts";
import { type ContentOptions, taskContent } from "./deliver/content.ts";
import { Deliveries } from "./deliver/deliveries.ts";
import { ResultCopies } from "./deliver/result-copies.ts";
import type { TaskDependencies } from "./dependencies.ts";
import type { VideoTasksOptions } from "./options.ts";
import { AccountRates, steadyDelayMs } from "./poll/pace.ts";
import { poll } from "./poll/poll.ts";
import { Poller } from "./poll/poller.ts";
import { cancelTask, removeTask } from "./settle/cancel.ts";
import { Holds } from "./settle/holds.ts";
import type { Delivery } from "./store/task-leases.ts";
import type { TaskFilter, TaskPage, TaskPlace } from "./store/task-rows.ts";
import { TaskPass } from "./task-pass.ts";
import { Accounts, ownSignal, takeHint } from "./upstream-call.ts";

/** Video tasks, durable: see the module's entry point for what is promised. */
export class VideoTasks {
  readonly #dependencies: TaskDependencies;
  readonly #poller: Poller;
  readonly #stopping = new AbortController();

  constructor(options: VideoTasksOptions) {
    const accounts = new Accounts();
    this.#dependencies = {
      ...options,
      accounts,
      rates: new AccountRates(options),
      holds: new Holds(options),
      materials: new Materials(options),
      deliveries: new Deliveries(options),
      copies: new ResultCopies({ ...options, accounts }),
    };
    this.#poller = new Poller(this.#dependencies);
  }

  /** Reservations that this process holds for tasks that are not final. */
  get held(): number {
    return this.#dependencies.holds.size;
  }

  /** Looks, submissions left over, messages and copies under way: 0 at rest. */
  get busy(): number {
    return this.#poller.inFlight + this.#dependencies.deliveries.inFlight + this.#dependencies.copies.pending;
  }

  /** For numbers that operators watch: see Poller and Deliveries. Of this process alone. */
  get lateMs(): number {
    return this.#poller.lateMs;
  }

  get openResponses(): { readonly count: number; readonly oldestMs: number } {
    return this.#poller.openResponses;
  }

  get deliveryTries(): { readonly delivered: number; readonly failed: number } {
    return this.#dependencies.deliveries.tries;
  }

  /** A body as `create` takes it. Throws Failure invalid_json, request_too_large, and invalid_request for OpenAI's. */
  read(sent: SentBody, signal: AbortSignal | null): ReturnType<typeof readTaskBody> {
    return readTaskBody(this.#dependencies, this.#dependencies.ids.next("vt_"), sent, signal);
  }

  create(call: CreateCall): Promise<Task> {
    return createTask(this.#dependencies, call).finally(() => this.#poller.stir());
  }

  /** As it is stored. Throws task_not_found. */
  async find(workspaceId: string, id: string): Promise<Task> {
    const task = await this.#dependencies.store.find(workspaceId, id);
    if (task !== null) return task;
    throw noSuchTask(id);
  }

  /** As it is stored, looked at anew when that is older than it should be. Throws task_not_found. */
  async get(workspaceId: string, id: string): Promise<Task> {
    const task = await this.find(workspaceId, id);
    if (!(await this.#refresh(task))) return task;
    return this.find(workspaceId, id);
  }

  /** Without the requests. Throws Failure invalid_request for a cursor that no page gave out. */
  page(filter: TaskFilter, cursor: string | TaskPlace | null, limit: number): Promise<TaskPage> {
    return this.#dependencies.store.page(filter, cursor, limit);
  }

  /** Where a task stands in its workspace's list, to go on behind it. null: there is none. */
  async placeOf(workspaceId: string, id: string): Promise<TaskPlace | null> {
    const task = await this.#dependencies.store.findById(id);
    return task?.workspaceId === workspaceId ? task : null;
  }

  /** What happened to it, oldest first. Throws task_not_found. */
  async events(workspaceId: string, id: string): Promise<readonly TaskEvent[]> {
    return this.#dependencies.store.events((await this.find(workspaceId, id)).id);
  }

  /** The messages to its caller, with how often they were tried. Throws task_not_found. */
  async deliveries(workspaceId: string, id: string): Promise<readonly Delivery[]> {
    return this.#dependencies.store.deliveries((await this.find(workspaceId, id)).id);
  }

  /** Throws task_not_found, conflict, or invalid_request where the vendor cannot. */
  async cancel(workspaceId: string, id: string, signal: AbortSignal = ownSignal()): Promise<Task> {
    await cancelTask(this.#dependencies, await this.find(workspaceId, id), signal).finally(() => this.#poller.stir());
    return this.find(workspaceId, id);
  }

  /** For good, also where it was still being made. Throws what cancelling it throws, but for one that has ended. */
  async remove(workspaceId: string, id: string, signal: AbortSignal = ownSignal()): Promise<void> {
    const removed = removeTask(this.#dependencies, () => this.find(workspaceId, id), workspaceId, signal);
    await removed.finally(() => this.#poller.stir());
  }

  /** Throws task_not_found, and not_found when there is no result or its link is dead. */
  async content(workspaceId: string, id: string, options: ContentOptions, signal: AbortSignal): Promise<BlobAnswer> {
    return taskContent(this.#dependencies, await this.find(workspaceId, id), options, signal);
  }

  /** Throws what the caller's limits would say to every task now. Takes nothing; asked before a body is read. */
  check(principal: Principal): void | Promise<void> {
    return this.#dependencies.admission.check(principal);
  }

  /** An upstream's callback. False when it is not to be heard. */
  hint(taskId: string, token: string, readBody: () => Promise<Uint8Array>): Promise<boolean> {
    return takeHint(this.#dependencies, taskId, token, readBody).finally(() => this.#poller.stir());
  }

  /**
   * After a restart with a counter of this process: sets aside again what open tasks have reserved. Before the first call is admitted. Resolves to how many
   * there are.
   */
  async restoreHolds(): Promise<number> {
    const { store, holds } = this.#dependencies;
    if (!holds.endWithProcess) return 0;
    let count = 0;
    for await (const open of store.open()) if (await holds.ensure(open)) count++;
    return count;
  }

  /** Background responses, as the relay hands them over. */
  readonly responses: BackgroundResponses = {
    hold: (principal, attemptId, nanoUsd) => holdForResponse(this.#dependencies, principal, attemptId, nanoUsd),
    refresh: (workspaceId, upstreamId) =>
      refreshResponse(this.#dependencies, workspaceId, upstreamId).finally(() => this.#poller.stir()),
  };

  start(): void {
    this.#poller.start();
    void this.#dependencies.copies.takeUp(this.#stopping.signal);
  }

  stop(): Promise<void> {
    this.#stopping.abort();
    return this.#poller.stop();
  }

  /** Whether a poll was made, and so the stored state may be another. Never throws: the stored state serves as well. */
  async #refresh(task: Task): Promise<boolean> {
    const { store, clock, rates, observer } = this.#dependencies;
    const { account, state } = task;
    if (finalTaskStates.has(state) || account === null || task.upstreamId === null) return false;
    const now = clock.now();
    const stale = now - task.updatedAt >= steadyDelayMs(task, now) || (task.dueAt ?? now) <= now;
    if (!stale) return false;
    const pending = (async (): Promise<boolean> => {
      if (!(await rates.spare(account))) return false;
      const leased = await store.leaseOne(task.id, clock.now(), bounds.taskLeaseMs);
      if (leased === null) return true;
      const pass = new TaskPass(this.#dependencies, leased);
      if (pass.task.state === "queued" || pass.task.state === "running")
        await poll(this.#dependencies, pass, ownSignal());
      else await pass.leave({});
      return true;
    })()
      .catch((thrown: unknown): boolean => {
        observer.log("warn", "A video task could not be looked at for its caller.", { task: task.id, error: thrown });
        return true;
      })
      .finally(() => this.#poller.stir());
    return await within(clock, bounds.taskRefreshMs, pending, () => false);
  }
}
