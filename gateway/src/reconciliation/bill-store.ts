import type { BillClass, BillingKind } from "@sluice/contract/words";
import type { AuditSource, Clock, Ids } from "#ports/index.ts";
import { type Database, prunedBefore, type Row } from "#storage/tables.ts";
import type { BillLine } from "./bill.ts";
import type { ComparedDay, ComparedLine } from "./compare.ts";

/** A day of a provider's bill, compared with the ledger. */
export interface BillDay extends ComparedDay {
  readonly provider: string;
  readonly day: string;
  readonly source: BillingKind;
  readonly readAt: number;
  readonly bill: readonly BillLine[];
}

export type BillDayTotals = Omit<BillDay, "lines" | "bill">;

export type DecisionAction = Row<"bill_decisions">["action"];

/** A decision of an administrator about the difference of a line. */
export interface Decision {
  readonly provider: string;
  readonly day: string;
  readonly model: string;
  readonly usageClass: BillClass;
  readonly action: DecisionAction;
  /** The difference at that time. */
  readonly amountNanoUsd: number;
  readonly note: string;
}

export type StoredDecision = Decision & { readonly id: string; readonly actor: string; readonly at: number };

export interface BillReading {
  readonly readAt: number;
  /** null: it succeeded. */
  readonly problem: string | null;
}

export type BillStore = ReturnType<typeof createBillStore>;

export function createBillStore({ database, clock, ids }: { database: Database; clock: Clock; ids: Ids }) {
  const { kysely } = database;
  return {
    async putDay(day: BillDay): Promise<void> {
      const { provider, source, readAt, ourNanoUsd, theirNanoUsd, estimatedNanoUsd, foreignNanoUsd } = day;
      const row = {
        ...{ source, read_at: readAt, bill: JSON.stringify(day.bill), lines: JSON.stringify(day.lines) },
        state: day.differingNanoUsd === 0 ? ("matched" as const) : ("different" as const),
        ...{ our_nano_usd: ourNanoUsd, their_nano_usd: theirNanoUsd, estimated_nano_usd: estimatedNanoUsd },
        ...{ foreign_nano_usd: foreignNanoUsd, differing_nano_usd: day.differingNanoUsd },
      };
      await kysely
        .insertInto("bill_days")
        .values({ provider, day: day.day, ...row })
        .onConflict((conflict) => conflict.columns(["provider", "day"]).doUpdateSet(row))
        .execute();
    },
    /** Days from `from` to `to`, inclusive, by provider and day. `provider` null: all. */
    async days(provider: string | null, from: string, to: string): Promise<readonly BillDayTotals[]> {
      let query = kysely
        .selectFrom("bill_days")
        .select(totalColumns)
        .where("day", ">=", from)
        .where("day", "<=", to)
        .orderBy("provider")
        .orderBy("day")
        .limit(daysMax);
      if (provider !== null) query = query.where("provider", "=", provider);
      return (await query.execute()).map(totalsOf);
    },
    async day(provider: string, day: string): Promise<BillDay | null> {
      const row = await kysely
        .selectFrom("bill_days")
        .selectAll()
        .where("provider", "=", provider)
        .where("day", "=", day)
        .executeTakeFirst();
      if (row === undefined) return null;
      const lines = JSON.parse(row.lines) as readonly ComparedLine[];
      return { ...totalsOf(row), lines, bill: JSON.parse(row.bill) as readonly BillLine[] };
    },
    /** Oldest first. */
    async decisions(provider: string, day: string): Promise<readonly StoredDecision[]> {
      const rows = await kysely
        .selectFrom("bill_decisions")
        .selectAll()
        .where("provider", "=", provider)
        .where("day", "=", day)
        .orderBy("at")
        .orderBy("id")
        .execute();
      return rows.map(({ usage_class, amount_nano_usd, ...row }) => ({
        ...row,
        usageClass: usage_class as BillClass,
        amountNanoUsd: amount_nano_usd,
      }));
    },
    async addDecision(decision: Decision, { actor }: AuditSource): Promise<void> {
      const { usageClass, amountNanoUsd, ...rest } = decision;
      await kysely
        .insertInto("bill_decisions")
        .values({
          ...rest,
          ...{ id: ids.next("bdc_"), usage_class: usageClass, amount_nano_usd: amountNanoUsd, actor, at: clock.now() },
        })
        .execute();
    },
    /** Entries that began before this time may have been deleted after their retention. */
    deletedBefore: (): Promise<number> => prunedBefore(kysely),
    async noteReading(provider: string, problem: string | null): Promise<void> {
      const row = { read_at: clock.now(), problem };
      await kysely
        .insertInto("bill_readings")
        .values({ provider, ...row })
        .onConflict((conflict) => conflict.column("provider").doUpdateSet(row))
        .execute();
    },
    async readings(): Promise<ReadonlyMap<string, BillReading>> {
      const rows = await kysely.selectFrom("bill_readings").selectAll().execute();
      return new Map(rows.map(({ provider, read_at, problem }) => [provider, { readAt: read_at, problem }]));
    },
  };
}

const daysMax = 20_000;

const totalColumns = [
  ...(["provider", "day", "source", "read_at", "our_nano_usd", "their_nano_usd"] as const),
  ...(["estimated_nano_usd", "foreign_nano_usd", "differing_nano_usd"] as const),
] as const;

function totalsOf(row: Pick<Row<"bill_days">, (typeof totalColumns)[number]>): BillDayTotals {
  return {
    provider: row.provider,
    day: row.day,
    source: row.source as BillingKind,
    readAt: row.read_at,
    ourNanoUsd: row.our_nano_usd,
    theirNanoUsd: row.their_nano_usd,
    estimatedNanoUsd: row.estimated_nano_usd,
    foreignNanoUsd: row.foreign_nano_usd,
    differingNanoUsd: row.differing_nano_usd,
  };
}
