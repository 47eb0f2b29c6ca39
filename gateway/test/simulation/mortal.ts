import type { Clock, OutboundRequest, Transport } from "#ports/index.ts";
import type { TaskStore } from "#tasks/index.ts";

/**
 * A process as its neighbours see it: it runs, stands still for a while (SIGSTOP), or is gone (kill -9). What it does next
 * happens when it runs again, or never: its calls wait on the way out and on the way back.
 */
export class Mortal {
  #standing: "running" | "stopped" | "dead" = "running";
  #waiting: (() => void)[] = [];

  get dead(): boolean {
    return this.#standing === "dead";
  }

  stop(): void {
    if (this.#standing === "running") this.#standing = "stopped";
  }

  goOn(): void {
    if (this.#standing !== "stopped") return;
    this.#standing = "running";
    for (const act of this.#waiting.splice(0)) act();
  }

  kill(): void {
    this.#standing = "dead";
    this.#waiting = [];
  }

  clock(clock: Clock): Clock {
    return {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      after: (delayMs, act) => {
        let taken = false;
        const stop = clock.after(delayMs, () =>
          this.#when(() => {
            if (!taken) act();
          }),
        );
        return () => {
          taken = true;
          stop();
        };
      },
    };
  }

  transport(transport: Transport): Transport {
    return { send: (request: OutboundRequest, signal) => this.#through(() => transport.send(request, signal)) };
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

  async #through<T>(act: () => Promise<T>): Promise<T> {
    await this.#running();
    const result = await act().then(
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

  #when(act: () => void): void {
    if (this.#standing === "running") act();
    else if (this.#standing === "stopped") this.#waiting.push(act);
  }
}
