import { type Batch, LastingFault, type Provider, Sleeper, within } from "#core/index.ts";
import { finishBatch } from "../result/write-result.ts";
import type { LeasedBatch } from "../store/batch-writes.ts";
import { batchLeaseMs, OwnRun, type RunDependencies } from "./own-run.ts";
import { VendorRun } from "./vendor-run.ts";

/** Batches that run at once in this process, and of one workspace. Others wait for their turn. */
const batchesAtOnce = 32;
const batchesOfWorkspace = 4;
const tickMs = 500;
const restMs = 5_000;
/** Delay of a batch that has to wait. */
const waitMs = 5_000;
const leaseRenewMs = batchLeaseMs / 4;
/** Holds, rows of dead processes and old results are checked this often. */
const sweepMs = 10_000;
/** The journal of a process that is silent for so long counts as lost. */
const ownerLostMs = 600_000;
const outdatedAtOnce = 20;
const stopMs = 8_000;

/** Leases due batches and runs them. Any number of processes may share the store. */
export class BatchRunner {
  readonly #dependencies: RunDependencies;
  readonly #active = new Map<string, { readonly batch: Batch; readonly done: Promise<void>; run: OwnRun | null }>();
  readonly #stopping = new AbortController();
  readonly #sleeper: Sleeper;
  readonly #fault: LastingFault;
  /** When a process was first found missing or silent. */
  readonly #silentSince = new Map<string, number>();
  #sweptMs = Number.NEGATIVE_INFINITY;
  /** At the last sweep. */
  openSums: Awaited<ReturnType<RunDependencies["store"]["openSums"]>> = {
    batches: 0,
    rows: 0,
    ended: 0,
    oldestAt: null,
    progressAt: null,
  };
  #isWoken = false;
  #running: Promise<void> | null = null;

  constructor(dependencies: RunDependencies) {
    this.#dependencies = dependencies;
    const { clock, observer } = dependencies;
    this.#sleeper = new Sleeper(clock);
    const fault = "failed to read due batches; retrying";
    this.#fault = new LastingFault({ clock, observer, level: "warn", fault, over: "due batches are read again" });
  }

  get isBusy(): boolean {
    return this.#active.size > 0;
  }

  start(): void {
    this.#running ??= this.#loop();
  }

  /** A batch was created or changed here. */
  wake(batchId?: string): void {
    if (batchId !== undefined) this.#active.get(batchId)?.run?.check();
    this.#isWoken = true;
    this.#sleeper.wake();
  }

  /** Lets running rows end, for a while. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#sleeper.end();
    const ended = Promise.all([this.#running, ...[...this.#active.values()].map(({ done }) => done)]);
    await within(this.#dependencies.clock, stopMs, ended, () => undefined);
  }

  async #loop(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      this.#isWoken = false;
      let rest = tickMs;
      try {
        rest = await this.#tick();
        this.#fault.succeeded();
      } catch (error) {
        this.#fault.failed({ error });
      }
      if (!this.#isWoken) await this.#sleeper.sleep(rest);
    }
  }

  /** Resolves to the wait until the next tick. */
  async #tick(): Promise<number> {
    const { store, clock, instanceId } = this.#dependencies;
    const nowMs = clock.monotonic();
    if (nowMs - this.#sweptMs >= sweepMs) {
      this.#sweptMs = nowMs;
      await this.#sweep();
    }
    const now = clock.now();
    const due = await store.nextDue(now);
    if (due === null) return restMs;
    if (due > now) return Math.min(restMs, Math.max(tickMs, due - now));
    const room = batchesAtOnce - this.#active.size;
    if (room <= 0) return tickMs;
    for (const leased of await store.lease(instanceId, now, batchLeaseMs, room)) await this.#take(leased);
    return tickMs;
  }

  async #take(leased: LeasedBatch): Promise<void> {
    const { store, clock } = this.#dependencies;
    const { id, workspaceId } = leased.batch;
    const ofWorkspace = [...this.#active.values()].filter(({ batch }) => batch.workspaceId === workspaceId).length;
    if (this.#active.has(id) || ofWorkspace >= batchesOfWorkspace) {
      await store.step(leased, { dueAt: clock.now() + waitMs }, true);
      return;
    }
    const entry = { batch: leased.batch, run: null as OwnRun | null, done: Promise.resolve() };
    entry.done = this.#advance(leased, entry)
      .catch((error: unknown) => {
        this.#dependencies.observer.log("error", "failed to advance a batch; retrying when its lease ends", {
          batch: id,
          error,
        });
      })
      .finally(() => {
        this.#active.delete(id);
        this.wake();
      });
    this.#active.set(id, entry);
  }

  async #advance(leased: LeasedBatch, entry: { run: OwnRun | null }): Promise<void> {
    const { store, clock, holds, blobs, configSnapshot } = this.#dependencies;
    const { batch } = leased;
    if (batch.state === "validating") {
      // The process died while it created this batch. Its caller got no answer.
      await store.deleteRows(batch.id);
      if (batch.inputHash !== null) await blobs.remove(batch.inputHash);
      await store.discard(leased);
      return;
    }
    if (batch.state !== "finalizing" && batch.provider !== null) {
      const provider = configSnapshot().providers.get(batch.provider);
      const next = provider === undefined ? waitMs : await this.#advanceAtVendor(leased, provider);
      if (next !== "ended") {
        await store.release(leased, clock.now() + next);
        return;
      }
    } else if (batch.state !== "finalizing") {
      entry.run = new OwnRun(this.#dependencies, leased, this.#stopping.signal);
      const end = await entry.run.run();
      if (end === "lost") return;
      if (end === "stopped" || end === "waiting") {
        await store.step(leased, { dueAt: clock.now() + (end === "stopped" ? 0 : waitMs) }, true);
        return;
      }
    }
    // Every row has ended. Its cost is counted before its money is released.
    if (batch.state !== "finalizing") holds.readCosts((await store.findById(batch.id)) ?? batch);
    holds.endAll(batch);
    await this.#withLease(leased, finishBatch(this.#dependencies, leased));
  }

  /** Keeps the lease until the work has ended. If it is lost all the same, the next write of the work fails. */
  async #withLease<Result>(leased: LeasedBatch, work: Promise<Result>): Promise<Result> {
    const { store, clock } = this.#dependencies;
    const ended = work.then(
      () => true,
      () => true,
    );
    while (!(await within(clock, leaseRenewMs, ended, () => false))) {
      // The work continues while the database is unavailable.
      await store.renew(leased, clock.now() + batchLeaseMs).catch(() => undefined);
    }
    return await work;
  }

  async #advanceAtVendor(leased: LeasedBatch, provider: Provider): Promise<"ended" | number> {
    try {
      const run = new VendorRun(this.#dependencies, leased, this.#stopping.signal, provider);
      // While a request is under way, no other process may take the batch, and perhaps send it again.
      return await this.#withLease(leased, run.advance());
    } catch (error) {
      if (this.#stopping.signal.aborted) return 0;
      const batch = leased.batch.id;
      this.#dependencies.observer.log("warn", "failed to advance a batch at its vendor; retrying", { batch, error });
      return waitMs;
    }
  }

  async #sweep(): Promise<void> {
    const { store, holds, clock, blobs } = this.#dependencies;
    await this.#resolveRows();
    await holds.sweep();
    this.openSums = await store.openSums();
    for (const batch of await store.outdated(clock.now(), outdatedAtOnce)) {
      if (batch.outputHash !== null) await blobs.remove(batch.outputHash);
      await store.deleteRows(batch.id);
      await store.remove(batch.id);
    }
  }

  /** Ends rows of processes that died and left no journal. Usually the journal is found, and `resolveRows` has been called with it. */
  async #resolveRows(): Promise<void> {
    const { store, instanceId, processes, clock } = this.#dependencies;
    const owners = (await store.owners()).filter((owner) => owner !== instanceId);
    if (owners.length === 0) {
      this.#silentSince.clear();
      return;
    }
    const statuses = await processes();
    const nowMs = clock.monotonic();
    for (const owner of owners) {
      if (statuses.get(owner)?.isAlive === true) {
        this.#silentSince.delete(owner);
        continue;
      }
      const since = this.#silentSince.get(owner) ?? nowMs;
      this.#silentSince.set(owner, since);
      if (nowMs - since >= ownerLostMs) await store.resolveRows(owner, false, clock.now());
    }
  }
}
