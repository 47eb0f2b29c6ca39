import type { GuardrailCheckConfig, RehearsedChange } from "@sluice/contract/config-file";
import type { Rehearsal } from "@sluice/contract/console";
import { type ConfigSnapshot, type Model, type Provider, withoutUndefined } from "#core/index.ts";
import type { Clock, Observer } from "#ports/index.ts";
import { type Database, type DatabasePlace, threadPlace } from "#storage/in-thread.ts";
import { OrderThread } from "#system/index.ts";
import type { RehearsedChanges } from "../change/rehearsed-changes.ts";
import { resolveChange } from "../change/resolve-change.ts";
import type { RehearsalOrder } from "../replay/rehearsal-run.ts";
import type { NewRehearsal, RehearsalStore } from "./rehearsal-store.ts";
import type { WorkerOrder, WorkerReply } from "./rehearsal-worker.ts";

export interface RehearsalsOptions {
  readonly place: DatabasePlace;
  readonly database: Database;
  readonly store: RehearsalStore;
  readonly clock: Pick<Clock, "after">;
  readonly observer: Pick<Observer, "log">;
  readonly configSnapshot: () => ConfigSnapshot;
}

/** The thread ends when it was idle for so long. To start it takes as long as to replay 40,000 calls. */
const idleMs = 60_000;
/** Steps between two writes of a job's progress. In between, it is only read whether the job was canceled. */
const stepsPerWrite = 10;

interface Job {
  readonly id: string;
  readonly order: RehearsalOrder;
}

/**
 * Runs the rehearsals of this process, one after the other, in a separate thread, so that reports do not wait for them. The thread
 * works in steps; between two of them the job's progress is written, and a canceled job ends.
 */
export class Rehearsals {
  readonly #options: RehearsalsOptions;
  readonly #thread: OrderThread<WorkerOrder, WorkerReply>;
  readonly #waiting: Job[] = [];
  #running: Promise<void> | null = null;
  #cancelEnd: () => void = () => undefined;
  readonly #closing = new AbortController();

  constructor(options: RehearsalsOptions) {
    this.#options = options;
    this.#thread = new OrderThread({
      entry: new URL("./rehearsal-worker.ts", import.meta.url),
      name: "rehearsal",
      data: threadPlace(options.place),
      onDeath: (problem) => options.observer.log("error", "rehearsal thread died", { error: problem }),
    });
  }

  get store(): RehearsalStore {
    return this.#options.store;
  }

  /** Throws `invalid_request` for a name that is unknown, or `rate_limit_exceeded`. */
  async start(request: NewRehearsal): Promise<Rehearsal> {
    const { store, database, configSnapshot } = this.#options;
    const { workspaceId, change, from, to } = request;
    const { changes, workspaceIds } = await resolveChange(change, configSnapshot(), database, workspaceId);
    const job = await store.create({ ...request, change: withoutWebhookSecrets(change) });
    const order = orderOf(changes, { from, to, now: job.created_at, workspaceIds }, configSnapshot());
    this.#waiting.push({ id: job.id, order });
    this.#running ??= this.#runAll();
    return job;
  }

  /** Ends the thread. Its job fails: no process notes it any more. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#cancelEnd();
    this.#waiting.length = 0;
    await this.#thread.end();
    await this.#running;
  }

  async #runAll(): Promise<void> {
    const { store, observer, clock } = this.#options;
    this.#cancelEnd();
    for (let job = this.#waiting.shift(); job !== undefined; job = this.#waiting.shift()) {
      try {
        await this.#run(job);
      } catch (thrown) {
        if (this.#closing.signal.aborted) break;
        observer.log("error", "rehearsal failed", { rehearsal: job.id, error: thrown });
        const problem = "The calls could not be replayed. The log of the gateway has the reason.";
        await store.failed(job.id, problem).catch(() => undefined);
      }
    }
    this.#running = null;
    if (this.#closing.signal.aborted) return;
    this.#cancelEnd = clock.after(idleMs, () => void this.#thread.end());
  }

  async #run({ id, order }: Job): Promise<void> {
    const { store } = this.#options;
    let reply = { ...noProgress, result: null as WorkerReply["result"] };
    if (!(await store.continues(id, reply))) return;
    await this.#do({ type: "begin", order });
    for (let step = 0; reply.result === null; step++) {
      reply = await this.#do({ type: "step" });
      const isWritten = step % stepsPerWrite === 0;
      const isOpen = isWritten ? await store.continues(id, reply) : await store.isOpen(id);
      // The thread would keep what it counted.
      if (!isOpen) return await this.#thread.end();
      if (isWritten) await this.#beatOthers();
    }
    await store.done(id, reply.result);
  }

  /** Jobs that wait here are not lost. */
  async #beatOthers(): Promise<void> {
    for (const { id } of this.#waiting) await this.#options.store.waits(id);
  }

  async #do(order: WorkerOrder): Promise<WorkerReply> {
    const answer = await this.#thread.run(order);
    if ("reply" in answer) return answer.reply;
    throw new Error(answer.failed);
  }
}

const noProgress = { entries: 0, progress: 0, isOver: false };

/** The order for a thread, without the secrets of providers. */
function orderOf(
  changes: RehearsedChanges,
  span: Pick<RehearsalOrder, "from" | "to" | "now" | "workspaceIds">,
  { workspaces, groups, models: current, budgetPolicies }: ConfigSnapshot,
): RehearsalOrder {
  const { models, routes } = changes;
  const bare = { models: bareModels(models), routes: bareModels(routes) };
  return {
    ...span,
    changes: { ...changes, ...bare },
    config: { workspaces, groups, models: bareModels(current), budgetPolicies },
  };
}

/** Secrets of webhooks must not be stored with the job. */
function withoutWebhookSecrets(change: RehearsedChange): RehearsedChange {
  const bare = <Item extends { check?: GuardrailCheckConfig | undefined }>(guardrails: Item[] | undefined) =>
    guardrails?.map((each) => {
      if (each.check?.kind !== "webhook") return each;
      const { secret: _, ...check } = each.check;
      return { ...each, check };
    });
  const workspaces = change.workspaces?.map((each) => ({ ...each, guardrails: bare(each.guardrails) }));
  return { ...change, guardrails: bare(change.guardrails), workspaces };
}

function bareModels(models: ReadonlyMap<string, Model>): ReadonlyMap<string, Model> {
  const bare = [...models].map(([name, model]) => {
    const deployments = model.deployments.map((each) => ({ ...each, provider: withoutSecrets(each.provider) }));
    return [name, { ...model, deployments }] as const;
  });
  return new Map(bare);
}

function withoutSecrets(provider: Provider): Provider {
  const { cost_source, endpoints } = provider.settings;
  return { ...provider, secret: null, settings: withoutUndefined({ cost_source, endpoints }) };
}
