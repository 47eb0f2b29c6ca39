import type { Kysely } from "kysely";
import type { UsageSum } from "#ports/index.ts";
import { usageByModel } from "./ledger-sums.ts";
import type { Desk } from "./report-desk.ts";
import type { Tables } from "./schema.ts";

/** What one key has used, by model: the answer to its holder. */
export async function keyUsage(
  { connection, deadline }: Desk,
  keyId: string,
  from: number,
  to: number,
): Promise<readonly UsageSum[]> {
  const sums = await usageByModel({ reading: connection as Kysely<Tables> }, { keyId, from, to });
  deadline.check();
  return sums;
}
