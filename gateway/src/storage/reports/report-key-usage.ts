import type { Kysely } from "kysely";
import type { UsageSum } from "#ports/index.ts";
import type { Tables } from "../database/schema.ts";
import { usageByModel } from "../ledger/ledger-sums.ts";
import type { ReportContext } from "./report-desk.ts";

/** What one key has used, by model: the answer to its holder. */
export async function keyUsage(
  { connection, deadline }: ReportContext,
  keyId: string,
  from: number,
  to: number,
): Promise<readonly UsageSum[]> {
  const sums = await usageByModel({ reading: connection as Kysely<Tables> }, { keyId, from, to });
  deadline.check();
  return sums;
}
