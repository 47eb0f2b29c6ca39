import { asFailure, bounds, Failure, sleep, type Task } from "#core/index.ts";
import type { VideoTasksOptions } from "../options.ts";
import type { TaskPage } from "../store/task-rows.ts";
import { neverAborted } from "../upstream-call.ts";
import { type FileDependencies, openResult, streamOf } from "./content.ts";

const resultCopyBytesMax = 2 * 1024 * 1024 * 1024;
const resultCopiesActiveMax = 2;
const resultCopiesWaitingMax = 10_000;
const resultCopyTriesMax = 3;
/** For copies that a stopped process left: the oldest task to check, and the lifetime of a link without an expiry date. */
const resultCopyTaskMsMax = 3 * 86_400_000;
const resultLinkMs = 86_400_000;

type Dependencies = FileDependencies &
  Pick<VideoTasksOptions, "blobs" | "copyResults" | "store" | "observer" | "unusedBlobs">;

/**
 * Copies results into our blob store if the setting is on, because vendors keep them for a day or less. The queue is in
 * memory; the next process to start scans for results without a copy.
 */
export class ResultCopies {
  readonly #dependencies: Dependencies;
  readonly #waiting: Task[] = [];
  #active = 0;
  #scans = 0;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /** Copies in progress or queued, and running scans. */
  get pending(): number {
    return this.#active + this.#waiting.length + this.#scans;
  }

  /** Queues results that an earlier process did not copy. Never throws. */
  async resume(signal: AbortSignal): Promise<void> {
    const { blobs, copyResults, observer } = this.#dependencies;
    if (blobs === null || !copyResults()) return;
    this.#scans++;
    try {
      for await (const task of this.#uncopied(signal)) this.enqueue(task);
    } catch (thrown) {
      observer.log("warn", "failed to find results without a copy", { error: thrown });
    } finally {
      this.#scans--;
    }
  }

  async *#uncopied(signal: AbortSignal): AsyncGenerator<Task> {
    const { store, clock } = this.#dependencies;
    const now = clock.now();
    const filter = { workspaceId: null, states: ["succeeded"] } as const;
    for (let cursor: string | null = null; !signal.aborted; ) {
      const page: TaskPage = await store.page(filter, cursor, bounds.listPageMax);
      yield* page.tasks.filter((task) => needsCopy(task, now));
      cursor = page.next;
      const last = page.tasks.at(-1);
      if (cursor === null || last === undefined || last.createdAt < now - resultCopyTaskMsMax) return;
    }
  }

  enqueue(task: Task): void {
    const { blobs, copyResults, observer } = this.#dependencies;
    if (task.state !== "succeeded" || blobs === null || !copyResults()) return;
    if (this.#waiting.length >= resultCopiesWaitingMax) {
      observer.log("warn", "the queue of copies is full; not copying a result", { task: task.id });
      return;
    }
    this.#waiting.push(task);
    this.#next();
  }

  #next(): void {
    if (this.#active >= resultCopiesActiveMax) return;
    const task = this.#waiting.shift();
    if (task === undefined) return;
    this.#active++;
    void this.#copy(task).finally(() => {
      this.#active--;
      this.#next();
    });
  }

  async #copy(task: Task): Promise<void> {
    const { clock, observer } = this.#dependencies;
    for (let tries = 1; tries <= resultCopyTriesMax; tries++) {
      try {
        await this.#copyOnce(task);
        return;
      } catch (thrown) {
        const reason = asFailure(thrown).message;
        observer.log("warn", "failed to copy a result", { task: task.id, tries, reason });
      }
      if (tries < resultCopyTriesMax) await sleep(clock, tries * pauseMs, null);
    }
  }

  async #copyOnce(task: Task): Promise<void> {
    const dependencies = this.#dependencies;
    const answer = await openResult(dependencies, task, { range: null, still: null }, neverAborted());
    if (answer.status !== 200 || dependencies.blobs === null) {
      answer.body.cancel();
      throw new Failure("upstream_error", `The upstream answered ${answer.status} to the request for the result.`);
    }
    const { hash, size } = await dependencies.blobs.put(streamOf(answer.body), resultCopyBytesMax, neverAborted());
    if (size === 0) throw new Failure("upstream_error", "The upstream's result is empty.");
    const attached = await dependencies.store.attachBlob(task.id, hash, answer.headers.get("content-type"));
    if (!attached) await removeCopy(dependencies, task.id, hash);
  }
}

function needsCopy({ output, finishedAt }: Task, now: number): boolean {
  if (output === null || output.blobHash !== null) return false;
  const { expiresAt } = output;
  const endsAt = expiresAt === null ? (finishedAt ?? 0) + resultLinkMs : expiresAt * 1_000;
  return endsAt > now;
}

const pauseMs = 10_000;

/** Removes a copy without a task, unless something else uses the same bytes. Logs errors. */
export async function removeCopy(
  { unusedBlobs, observer }: Pick<VideoTasksOptions, "unusedBlobs" | "observer">,
  taskId: string,
  hash: string,
): Promise<void> {
  await unusedBlobs?.drop(hash).catch((thrown: unknown) => {
    observer.log("warn", "failed to delete the copy of a deleted video", { task: taskId, hash, error: thrown });
  });
}
