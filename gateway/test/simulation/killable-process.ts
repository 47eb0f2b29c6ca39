import type { Clock, Transport } from "#ports/index.ts";
import type { TaskStore } from "#tasks/index.ts";
import { transportOf } from "../sending-transport.ts";

/**
 * A process as other processes see it: it runs, is stopped for a while (SIGSTOP), or is killed (kill -9). Its next
 * steps happen when it runs again, or never. Its calls wait before they are sent and before they return.
 */
export class KillableProcess {
  #state: "running" | "stopped" | "dead" = "running";
  #waiting: (() => void)[] = [];

  stop(): void {
    if (this.#state === "running") this.#state = "stopped";
  }

  resume(): void {
    if (this.#state !== "stopped") return;
    this.#state = "running";
    for (const run of this.#waiting.splice(0)) run();
  }

  kill(): void {
    this.#state = "dead";
    this.#waiting = [];
  }

  clock(clock: Clock): Clock {
    return {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      after: (delayMs, run) => {
        let isCancelled = false;
        const stop = clock.after(delayMs, () =>
          this.#when(() => {
            if (!isCancelled) run();
          }),
        );
        return () => {
          isCancelled = true;
          stop();
        };
      },
    };
  }

  transport(transport: Transport): Transport {
    return transportOf((request, signal) => this.#through(() => transport.send(request, signal)));
  }

  store(store: TaskStore): TaskStore {
    return {
      ...store,
      create: (task, material) => this.#through(() => store.create(task, material)),
      find: (workspaceId, id) => this.#through(() => store.find(workspaceId, id)),
      findById: (id) => this.#through(() => store.findById(id)),
      lease: (now, leaseMs, limit) => this.#through(() => store.lease(now, leaseMs, limit)),
      nextDue: (now) => this.#through(() => store.nextDue(now)),
      leaseOne: (id, now, leaseMs) => this.#through(() => store.leaseOne(id, now, leaseMs)),
      step: (leased, step, now, release) => this.#through(() => store.step(leased, step, now, release)),
      finish: (leased, step, entry, delivery, now) =>
        this.#through(() => store.finish(leased, step, entry, delivery, now)),
      makeDueNow: (id, now) => this.#through(() => store.makeDueNow(id, now)),
      dueDeliveries: (now, leaseMs, limit) => this.#through(() => store.dueDeliveries(now, leaseMs, limit)),
      recordDelivery: (leased, result) => this.#through(() => store.recordDelivery(leased, result)),
    };
  }

  async #through<T>(run: () => Promise<T>): Promise<T> {
    await this.#running();
    const result = await run().then(
      (value) => ({ value }),
      (thrown: unknown) => ({ thrown }),
    );
    await this.#running();
    if ("thrown" in result) throw result.thrown;
    return result.value;
  }

  #running(): Promise<void> {
    return new Promise((resolve) => this.#when(resolve));
  }

  #when(run: () => void): void {
    if (this.#state === "running") run();
    else if (this.#state === "stopped") this.#waiting.push(run);
  }
}
