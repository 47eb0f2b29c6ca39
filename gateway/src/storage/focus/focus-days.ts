import type { FocusDay, FocusPart } from "#ports/index.ts";
import type { Database } from "../database/database.ts";
import { dayMs } from "../ledger/ledger-grains.ts";
import { prunedBefore } from "../ledger/ledger-prune.ts";
import { closedParts } from "./late-entries.ts";
import { unpackedText } from "./packed-text.ts";

export async function findFocusDay(database: Database, day: number): Promise<FocusDay | null> {
  return (await closedFocusDays(database, day, day + dayMs))[0] ?? null;
}

/** From `from` and before `to`, in order. */
export async function closedFocusDays({ kysely }: Database, from: number, to: number): Promise<readonly FocusDay[]> {
  const days = await kysely
    .selectFrom("focus_days")
    .leftJoin("focus_parts", (join) =>
      join.onRef("focus_parts.day", "=", "focus_days.day").onRef("focus_parts.run", "=", "focus_days.run"),
    )
    .select((eb) => [
      "focus_days.day",
      "closed_at",
      "focus_days.digest",
      eb.fn.coalesce(eb.fn.sum<number | string>("row_count"), eb.lit(0)).as("rows"),
      // As text, because the sum may exceed 2^53.
      eb.cast<string>(eb.fn.coalesce(eb.fn.sum<number>("cost_nano_usd"), eb.lit(0)), "text").as("cost"),
    ])
    .where("focus_days.day", ">=", from)
    .where("focus_days.day", "<", to)
    .groupBy(["focus_days.day", "closed_at", "focus_days.digest"])
    .orderBy("focus_days.day")
    .execute();
  return days.map(({ day, closed_at, digest, rows, cost }) => ({
    ...{ day, closedAt: closed_at, rows: Number(rows), costNanoUsd: BigInt(cost), digest },
  }));
}

/** The first day that is closed or has all of its entries. */
export async function firstFocusDay({ kysely }: Database): Promise<number | null> {
  const { closed } = await kysely
    .selectFrom("focus_days")
    .select((eb) => eb.fn.min<number | null>("day").as("closed"))
    .executeTakeFirstOrThrow();
  const { first } = await kysely
    .selectFrom("ledger_entries")
    .select((eb) => eb.fn.min<number | null>("at").as("first"))
    .executeTakeFirstOrThrow();
  if (first === null) return closed;
  const whole = Math.ceil((await prunedBefore(kysely)) / dayMs) * dayMs;
  return Math.min(closed ?? Number.POSITIVE_INFINITY, Math.max(whole, first - (first % dayMs)));
}

export async function focusPart(
  { kysely }: Database,
  day: number,
  after: number | null,
  workspaceId: string | null,
): Promise<FocusPart | null> {
  let query = closedParts(kysely)
    .select(["focus_parts.seq", "row_count", "csv"])
    .where("focus_parts.day", "=", day)
    .where("focus_parts.seq", ">", after ?? 0)
    .orderBy("focus_parts.seq")
    .limit(1);
  if (workspaceId !== null) query = query.where("workspace_id", "=", workspaceId);
  const part = await query.executeTakeFirst();
  if (part === undefined) return null;
  const gzip = new Uint8Array(Buffer.from(part.csv, "base64"));
  return { seq: part.seq, rows: part.row_count, text: unpackedText(part.csv), gzip };
}
