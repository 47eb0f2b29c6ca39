import { bounds } from "#core/index.ts";
import type { AttemptCost, Chance, Clock, Counter } from "#ports/index.ts";

interface Entry extends AttemptCost {
  readonly endedAt: number;
}

/** One ledger, and a journal per process. Settled costs reach the ledger when the journal is drained. */
export class WorldLedger {
  readonly #clock: Clock;
  readonly #chance: Chance;
  readonly #stored: Entry[] = [];
  readonly #journals = new Map<number, Entry[]>();
  readonly #readings = new Map<number, Promise<void>>();

  constructor(clock: Clock, chance: Chance) {
    this.#clock = clock;
    this.#chance = chance;
  }

  note(process: number, { attemptId, amount }: AttemptCost): void {
    const journal = this.#journals.get(process) ?? [];
    this.#journals.set(process, journal);
    if (amount > 0) journal.push({ attemptId, amount, endedAt: this.#clock.now() });
  }

  /** Also called when another process adopts the journal. */
  drain(process: number): void {
    this.#stored.push(...(this.#journals.get(process)?.splice(0) ?? []));
  }

  /** Drains the journal after a while if the process is still alive; a dead process never resolves. */
  async settled(process: number, isAlive: () => boolean): Promise<void> {
    await this.#delay();
    if (!isAlive()) await new Promise<never>(() => undefined);
    this.drain(process);
  }

  /** Reads what the budget has spent, as the gateway's reader does. One reading at a time per process. */
  read(process: number, counter: Counter, isAlive: () => boolean): Promise<void> {
    const running = this.#readings.get(process);
    if (running !== undefined) return running;
    const reading = this.#read(process, counter, isAlive)
      .catch(() => undefined)
      .finally(() => this.#readings.delete(process));
    this.#readings.set(process, reading);
    return reading;
  }

  async #read(process: number, counter: Counter, isAlive: () => boolean): Promise<void> {
    const meeting = await counter.beginPeriod("b", 0, true);
    if (meeting === "unreachable" || meeting === "behind") return;
    const since = this.#clock.now() - bounds.budgetReadSlackMs - (counter.shared?.ledgerLagMs ?? 0);
    await this.settled(process, isAlive);
    const amount = this.#stored.reduce((sum, entry) => sum + entry.amount, 0);
    const recent = this.#stored.filter(({ endedAt }) => endedAt >= since);
    await this.#delay();
    await counter.setSpending("b", 0, { amount, recent, cleanFrom: Number.POSITIVE_INFINITY, again: true });
  }

  #delay(): Promise<void> {
    const ms = Math.floor(this.#chance.unit() * 400);
    return new Promise((resolve) => this.#clock.after(ms, resolve));
  }
}
