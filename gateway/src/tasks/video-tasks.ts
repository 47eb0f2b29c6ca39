import type { BlobAnswer } from "#assets/index.ts";
import {
  bounds,
  finalTaskStates,
  type Principal,
  type Task,
  type TaskEvent,
  type WebhookDelivery,
  within,
} from "#core/index.ts";
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
import { baseDelayMs, PollPacer } from "./poll/pace.ts";
import { poll } from "./poll/poll.ts";
import { Poller } from "./poll/poller.ts";
import { cancelTask, removeTask } from "./settle/cancel.ts";
import { Holds } from "./settle/holds.ts";
import type { TaskFilter, TaskPage, TaskPosition } from "./store/task-rows.ts";
import { TaskPass } from "./task-pass.ts";
import { AccountProviders, handleCallback, neverAborted } from "./upstream-call.ts";

/** Durable video tasks; the module's entry point lists the promises. */
export class VideoTasks {
  readonly #dependencies: TaskDependencies;
  readonly #poller: Poller;
  readonly #stopping = new AbortController();

  constructor(options: VideoTasksOptions) {
    const accounts = new AccountProviders();
    this.#dependencies = {
      ...options,
      accounts,
      pacer: new PollPacer(options),
      holds: new Holds(options),
      materials: new Materials(options),
      deliveries: new Deliveries(options),
      copies: new ResultCopies({ ...options, accounts }),
    };
    this.#poller = new Poller(this.#dependencies);
  }

  /** Permits that this process holds for open tasks. */
  get held(): number {
    return this.#dependencies.holds.size;
  }

  /** Polls, submissions, webhooks and copies in progress. */
  get busy(): number {
    return this.#poller.inFlight + this.#dependencies.deliveries.inFlight + this.#dependencies.copies.pending;
  }

  /** For metrics of this process. */
  get lateMs(): number {
    return this.#poller.lateMs;
  }

  get openResponses(): { readonly count: number; readonly oldestMs: number } {
    return this.#poller.openResponses;
  }

  get deliveryTries(): { readonly delivered: number; readonly failed: number } {
    return this.#dependencies.deliveries.tries;
  }

  /** Parses a body for `create`. Throws Failure invalid_json, request_too_large, and invalid_request for OpenAI's format. */
  read(sent: SentBody, signal: AbortSignal | null): ReturnType<typeof readTaskBody> {
    return readTaskBody(this.#dependencies, this.#dependencies.ids.next("vt_"), sent, signal);
  }

  create(call: CreateCall): Promise<Task> {
    return createTask(this.#dependencies, call).finally(() => this.#poller.wake());
  }

  /** Webhooks that were given up since a time, by workspace. `taskId`: one of their tasks. */
  failedWebhooks(workspaceId: string | null, since: number): ReturnType<TaskDependencies["store"]["failedDeliveries"]> {
    return this.#dependencies.store.failedDeliveries(workspaceId, since);
  }

  /** The stored task. Throws task_not_found. */
  async find(workspaceId: string, id: string): Promise<Task> {
    const task = await this.#dependencies.store.find(workspaceId, id);
    if (task !== null) return task;
    throw noSuchTask(id);
  }

  /** Polls the upstream first if the stored state is stale. Throws task_not_found. */
  async get(workspaceId: string, id: string): Promise<Task> {
    const task = await this.find(workspaceId, id);
    if (!(await this.#refresh(task))) return task;
    return this.find(workspaceId, id);
  }

  /** Tasks without their requests. Throws Failure invalid_request for an invalid cursor. */
  page(filter: TaskFilter, cursor: string | TaskPosition | null, limit: number): Promise<TaskPage> {
    return this.#dependencies.store.page(filter, cursor, limit);
  }

  /** The position of a task in the list of its workspace; null: there is no such task. */
  async findPosition(workspaceId: string, id: string): Promise<TaskPosition | null> {
    const task = await this.#dependencies.store.findById(id);
    return task?.workspaceId === workspaceId ? task : null;
  }

  /** The history of a task, oldest first. Throws task_not_found. */
  async events(workspaceId: string, id: string): Promise<readonly TaskEvent[]> {
    return this.#dependencies.store.events((await this.find(workspaceId, id)).id);
  }

  /** The webhooks of a task. Throws task_not_found. */
  async deliveries(workspaceId: string, id: string): Promise<readonly WebhookDelivery[]> {
    return this.#dependencies.store.deliveries((await this.find(workspaceId, id)).id);
  }

  /** Cancels a task. Throws task_not_found, conflict, or invalid_request if the vendor cannot cancel. */
  async cancel(workspaceId: string, id: string, signal: AbortSignal = neverAborted()): Promise<Task> {
    await cancelTask(this.#dependencies, await this.find(workspaceId, id), signal).finally(() => this.#poller.wake());
    return this.find(workspaceId, id);
  }

  /** Deletes a video, also one in progress. Throws what `cancel` throws for an open task. */
  async remove(workspaceId: string, id: string, signal: AbortSignal = neverAborted()): Promise<void> {
    const removed = removeTask(this.#dependencies, () => this.find(workspaceId, id), workspaceId, signal);
    await removed.finally(() => this.#poller.wake());
  }

  /** Reads the video. Throws task_not_found, or not_found if there is no result or its link is dead. */
  async content(workspaceId: string, id: string, options: ContentOptions, signal: AbortSignal): Promise<BlobAnswer> {
    return taskContent(this.#dependencies, await this.find(workspaceId, id), options, signal);
  }

  /** Throws if a limit of the caller is reached. Reserves nothing; called before a body is read. */
  check(principal: Principal): void | Promise<void> {
    return this.#dependencies.admission.check(principal);
  }

  /** Handles a callback of an upstream. Returns false if it is not accepted. */
  handleCallback(taskId: string, token: string, readBody: () => Promise<Uint8Array>): Promise<boolean> {
    return handleCallback(this.#dependencies, taskId, token, readBody).finally(() => this.#poller.wake());
  }

  /** Holds the money of open tasks again after a restart, before the first call is admitted. Resolves to the number of holds. */
  async restoreHolds(): Promise<number> {
    const { store, holds } = this.#dependencies;
    if (!holds.endWithProcess) return 0;
    let count = 0;
    for await (const open of store.open()) if (await holds.ensure(open)) count++;
    return count;
  }

  /** For the relay, which creates background responses. */
  readonly responses: BackgroundResponses = {
    hold: (...held) => holdForResponse(this.#dependencies, ...held),
    refresh: (workspaceId, upstreamId) =>
      refreshResponse(this.#dependencies, workspaceId, upstreamId).finally(() => this.#poller.wake()),
  };

  start(): void {
    this.#poller.start();
    void this.#dependencies.copies.resume(this.#stopping.signal);
  }

  stop(): Promise<void> {
    this.#stopping.abort();
    return this.#poller.stop();
  }

  /** Resolves to true if the stored state may have changed. Never throws. */
  async #refresh(task: Task): Promise<boolean> {
    const { store, clock, pacer, observer } = this.#dependencies;
    const { account, state } = task;
    if (finalTaskStates.has(state) || account === null || task.upstreamId === null) return false;
    const now = clock.now();
    const stale = now - task.updatedAt >= baseDelayMs(task, now) || (task.dueAt ?? now) <= now;
    if (!stale) return false;
    const pending = (async (): Promise<boolean> => {
      if (!(await pacer.trySpare(account))) return false;
      const leased = await store.leaseOne(task.id, clock.now(), bounds.taskLeaseMs);
      if (leased === null) return true;
      const pass = new TaskPass(this.#dependencies, leased);
      if (pass.task.state === "queued" || pass.task.state === "running") await poll(pass);
      else await pass.release({});
      return true;
    })()
      .catch((thrown: unknown): boolean => {
        observer.log("warn", "failed to poll a video task for its caller", { task: task.id, error: thrown });
        return true;
      })
      .finally(() => this.#poller.wake());
    return await within(clock, bounds.taskRefreshMs, pending, () => false);
  }
}
