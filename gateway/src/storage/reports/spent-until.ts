import type { SpendingQuery, SpendingReport } from "#ports/index.ts";
import type { Database } from "../database/database.ts";
import { PastSums } from "./past-sums.ts";
import { Deadline } from "./report-context.ts";
import { spending } from "./report-spending.ts";

/** Longest reading, in milliseconds. */
const readMs = 60_000;

/** What was spent in parts of periods that end at a whole hour, `untilMs`. */
export async function spentUntil(
  { reading: connection, flavour }: Database,
  queries: readonly SpendingQuery[],
  untilMs: number,
): Promise<SpendingReport["spent"]> {
  const earlier = queries.filter(({ from }) => from < untilMs);
  if (earlier.length === 0) return queries.map(() => nothing);
  const deadline = new Deadline(readMs);
  const context = { connection, flavour, deadline, price: async () => null, pastSums: new PastSums() };
  const asked = earlier.map((query) => ({ ...query, to: Math.min(query.to ?? untilMs, untilMs) }));
  const { spent } = await spending(context, asked, Number.MAX_SAFE_INTEGER);
  const amounts = new Map(earlier.map((query, index) => [query, spent[index]?.amount ?? 0]));
  return queries.map((query) => ({ amount: amounts.get(query) ?? 0, later: 0 }));
}

const nothing = { amount: 0, later: 0 };
