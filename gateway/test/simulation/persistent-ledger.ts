import type { Intent, LedgerEntry, PriceVersion, Settlement } from "#core/index.ts";
import { joinEntry, personScopeId } from "#core/index.ts";
import { recover } from "#ledger/index.ts";
import type { Chance, Clock, Journal, JournalRecord, RecentCost, SpendingQuery, SpendingReport } from "#ports/index.ts";

/** Data that survives a killed process: the journal's records, and the entries that reached the database after a delay. */
export class PersistentLedger {
  readonly entries: LedgerEntry[] = [];
  readonly faults: string[] = [];
  readonly #attemptIds = new Set<string>();
  readonly #prices: Map<string, PriceVersion>;
  #records: JournalRecord[] = [];

  constructor(prices: readonly PriceVersion[]) {
    this.#prices = new Map(prices.map((price) => [price.id, price]));
  }

  /** Adds a price version that took effect later. */
  addPrice(price: PriceVersion): void {
    this.#prices.set(price.id, price);
  }

  /** The journal and the reports of one process. After `cut` it writes nothing. */
  open(clock: Clock, chance: Chance): ProcessJournal {
    return new ProcessJournal(this, clock, chance);
  }

  write(record: JournalRecord): void {
    this.#records.push(record);
  }

  store(entry: LedgerEntry): void {
    if (this.#attemptIds.has(entry.attemptId)) this.faults.push(`${entry.attemptId} was stored twice`);
    this.#attemptIds.add(entry.attemptId);
    this.entries.push(entry);
  }

  /** Recovers the journal like a start does, before calls are admitted. */
  async recover(): Promise<void> {
    const records = this.#records;
    this.#records = [];
    const leftovers = {
      async *records() {
        yield* records;
      },
      damage: [],
      discard: async () => {},
    };
    const insert = async (batch: readonly LedgerEntry[]): Promise<number> => {
      const fresh = batch.filter(({ attemptId }) => !this.#attemptIds.has(attemptId));
      for (const entry of fresh) this.store(entry);
      return fresh.length;
    };
    await recover({
      leftovers,
      store: { insert, insertChecks: async () => undefined, price: async (id) => this.#prices.get(id) ?? null },
    });
  }
}

export class ProcessJournal implements Journal {
  readonly healthy = true;
  readonly open = new Map<string, Intent>();
  /** Whether readings fail at the moment. */
  down = false;
  readonly #ledger: PersistentLedger;
  readonly #clock: Clock;
  readonly #chance: Chance;
  #alive = true;
  #waiting: LedgerEntry[] = [];

  constructor(ledger: PersistentLedger, clock: Clock, chance: Chance) {
    this.#ledger = ledger;
    this.#clock = clock;
    this.#chance = chance;
  }

  get lag(): number {
    return this.#waiting.length;
  }

  cut(): void {
    this.#alive = false;
  }

  intent(intent: Intent): void {
    if (!this.#alive) return;
    // The end of the attempt completes the same object.
    const value = { ...intent };
    this.open.set(intent.attemptId, value);
    this.#ledger.write({ type: "intent", value });
  }

  flush(): boolean {
    return true;
  }

  checkpoint(value: Extract<JournalRecord, { type: "checkpoint" }>["value"]): void {
    if (this.#alive) this.#ledger.write({ type: "checkpoint", value });
  }

  settle(settlement: Settlement): void {
    if (!this.#alive) return;
    const intent = this.open.get(settlement.attemptId);
    if (intent === undefined) {
      this.#ledger.faults.push(`${settlement.attemptId} was settled without being open`);
      return;
    }
    this.open.delete(settlement.attemptId);
    this.#ledger.write({ type: "settle", value: settlement });
    this.#waiting.push(joinEntry(intent, settlement));
    this.#clock.after(this.#chance.unit() * 200, () => this.#drain());
  }

  refuse(): void {}

  check(): void {}

  async synced(): Promise<void> {}

  async drained(signal: AbortSignal): Promise<void> {
    while (this.lag > 0 && !signal.aborted && this.#alive) await this.#pause(20);
  }

  async close(): Promise<void> {}

  /** Answers like reports do: after a delay, with the state of one moment, or not at all. */
  async spending(queries: readonly SpendingQuery[], endedSince: number): Promise<SpendingReport> {
    await this.#pause(this.#chance.unit() * 60);
    if (this.down) throw new Error("closed");
    const snapshot = [...this.#ledger.entries];
    await this.#pause(this.#chance.unit() * 60);
    const entriesFor = ({ kind, id }: SpendingQuery) => snapshot.filter((entry) => scopeOf(entry, kind) === id);
    const sum = (entries: readonly LedgerEntry[]) => entries.reduce((all, { costNanoUsd }) => all + costNanoUsd, 0);
    return {
      spent: queries.map((query) => ({
        amount: sum(
          entriesFor(query).filter(({ at }) => at >= query.from && at < (query.to ?? Number.POSITIVE_INFINITY)),
        ),
        later: sum(entriesFor(query).filter(({ at }) => at >= (query.to ?? Number.POSITIVE_INFINITY))),
      })),
      recent: snapshot.filter(({ endedAt }) => endedAt >= endedSince) satisfies readonly RecentCost[],
    };
  }

  #drain(): void {
    if (!this.#alive) return;
    const [entry] = this.#waiting.splice(0, 1);
    if (entry !== undefined) this.#ledger.store(entry);
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#clock.after(ms, resolve));
  }
}

export function scopeOf(entry: RecentCost, kind: SpendingQuery["kind"]): string {
  const { workspaceId, groupId, keyId, personId } = entry;
  if (kind === "person") return personId === undefined ? "" : personScopeId(workspaceId, personId);
  return kind === "workspace" ? workspaceId : kind === "group" ? groupId : keyId;
}
