import { nanoToUsd } from "#core/index.ts";
import type { Database } from "#storage/tables.ts";
import { decided, type Finding, type Findings, findingsMax, type Watched } from "./finding.ts";

/** Older differences raise no alert: a bill is read again for a week. */
const daysBack = 14;
const dayMs = 86_400_000;

/** Providers with unexplained differences on a recent day of their bill. Rules of a workspace find none: bills are of the installation. */
export async function billFindings(
  { workspaceId, condition }: Watched<"bill_difference">,
  { database }: { readonly database: Database },
  now: number,
): Promise<Findings> {
  if (workspaceId !== null) return decided([]);
  let query = database.reading
    .selectFrom("bill_days")
    .select(["provider", "day", "our_nano_usd", "their_nano_usd", "differing_nano_usd"])
    .where("day", ">=", new Date(now - daysBack * dayMs).toISOString().slice(0, 10))
    .where("differing_nano_usd", ">", 0)
    .orderBy("day", "desc")
    .limit(findingsMax);
  if (condition.provider !== undefined) query = query.where("provider", "=", condition.provider);
  const latest = new Map<string, Finding>();
  for (const row of await query.execute()) {
    const billed = Math.max(Math.abs(row.our_nano_usd), Math.abs(row.their_nano_usd));
    const percent = billed === 0 ? 100 : (100 * row.differing_nano_usd) / billed;
    if (percent <= condition.percent || latest.has(row.provider)) continue;
    const { provider, day } = row;
    const facts = { provider, day, percent, differing_usd: nanoToUsd(row.differing_nano_usd) };
    const subject = `bill of ${provider}`;
    const finding = { kind: "bill_difference", subject, workspaceId: null, personId: null, level: 1 } as const;
    latest.set(provider, { ...finding, severity: "warning", facts });
  }
  return decided([...latest.values()]);
}
