import type { RequestRow } from "@sluice/contract/console";
import { shadowRefusedPrefix } from "@sluice/contract/words";
import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { LedgerEntry } from "#core/index.ts";
import type { RequestFilter } from "#ports/index.ts";
import { equalsGiven } from "../database/conditions.ts";
import type { Connection } from "../database/database.ts";
import type { PagePosition } from "../database/pages.ts";
import type { Row } from "../database/schema.ts";

type CheckFilter = Pick<RequestFilter, "guardrailId" | "guardrailVerdict" | "wouldRefuse">;

/** With more requests, the list is read in its own order. */
const requestsMax = 1_000;
/** A check is stored at most so long before the entry of its call. */
const slackMs = 86_400_000;

/** Whether the filter depends on checks of guardrails. */
export function hasCheckFilter({ guardrailId, guardrailVerdict, wouldRefuse }: CheckFilter): boolean {
  return guardrailId !== undefined || guardrailVerdict !== undefined || wouldRefuse !== undefined;
}

/** Conditions for `requestId`, a column with its table. */
export function checkConditions(requestId: string, filter: CheckFilter): readonly RawBuilder<SqlBool>[] {
  const { guardrailId, guardrailVerdict } = filter;
  if (guardrailId === undefined && guardrailVerdict === undefined) return [];
  return [hasCheck(requestId, checkTerms(filter))];
}

/** Whether a limit or a guardrail in shadow mode would have refused the call of a ledger entry. */
export function wouldBeRefused(): RawBuilder<SqlBool> {
  const warned = sql`ledger.warnings like ${`%"${shadowRefusedPrefix}%`}`;
  const checked = hasCheck("ledger.request_id", [sql`found.enforced = 0`, sql`found.verdict = 'blocked'`]);
  return sql<SqlBool>`(${warned} or ${checked})`;
}

function hasCheck(requestId: string, terms: readonly RawBuilder<unknown>[]): RawBuilder<SqlBool> {
  const all = [sql`found.request_id = ${sql.ref(requestId)}`, ...terms];
  return sql<SqlBool>`exists (select 1 from guardrail_checks as found where ${sql.join(all, sql` and `)})`;
}

function checkTerms({ guardrailId, guardrailVerdict }: CheckFilter): readonly RawBuilder<SqlBool>[] {
  return equalsGiven<{ "found.guardrail_id": string; "found.verdict": string }>({
    "found.guardrail_id": guardrailId === anyGuardrail ? undefined : guardrailId,
    "found.verdict": guardrailVerdict,
  });
}

/** In place of the id of a guardrail. */
const anyGuardrail = "any";

/** The attempts of requests with such checks. null: there are many, or the filter does not depend on them. */
export async function entriesWithChecks(
  connection: Connection,
  filter: CheckFilter & Pick<RequestFilter, "workspaceId" | "from">,
): Promise<readonly PagePosition[] | null> {
  const { guardrailId, guardrailVerdict, workspaceId, from } = filter;
  if (guardrailId === undefined && guardrailVerdict === undefined) return null;
  let requests = connection
    .selectFrom("guardrail_checks as found")
    .select("request_id")
    .distinct()
    .where((eb) => eb.and([...checkTerms(filter)]))
    .limit(requestsMax + 1);
  if (workspaceId !== null) requests = requests.where("workspace_id", "=", workspaceId);
  if (from !== undefined) requests = requests.where("at", ">=", from - slackMs);
  const ids = (await requests.execute()).map(({ request_id: id }) => id);
  if (ids.length > requestsMax) return null;
  if (ids.length === 0) return [];
  const entries = await connection
    .selectFrom("ledger_entries")
    .select(["at", "attempt_id as id"])
    .where("request_id", "in", ids)
    .limit(requestsMax + 1)
    .execute();
  return entries.length > requestsMax ? null : entries;
}

type Marks = Required<Pick<RequestRow, "guardrail_verdict" | "would_refuse">>;

/** The strongest first. */
const ranks: readonly Row<"guardrail_checks">["verdict"][] = ["blocked", "failed", "masked", "flagged"];

/** The results of guardrails in the requests of these entries, and the refusals that shadow mode only recorded. */
export async function checkMarks(
  connection: Connection,
  entries: readonly LedgerEntry[],
): Promise<(entry: LedgerEntry) => Marks> {
  const ids = [...new Set(entries.map(({ requestId }) => requestId))];
  const checks =
    ids.length === 0
      ? []
      : await connection
          .selectFrom("guardrail_checks")
          .select(["request_id", "verdict", "enforced"])
          .distinct()
          .where("request_id", "in", ids)
          .execute();
  const byRequest = Map.groupBy(checks, ({ request_id: id }) => id);
  return ({ requestId, warnings = [] }) => {
    const own = byRequest.get(requestId) ?? [];
    const has = (verdict: string, enforced: number) =>
      own.some((check) => check.verdict === verdict && check.enforced === enforced);
    return {
      guardrail_verdict: ranks.find((verdict) => has(verdict, 1)) ?? null,
      would_refuse: warnings.some((warning) => warning.startsWith(shadowRefusedPrefix)) || has("blocked", 0),
    };
  };
}
