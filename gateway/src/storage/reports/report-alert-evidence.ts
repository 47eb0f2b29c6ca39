import { shadowRefusedPrefix } from "@sluice/contract/words";
import type { AlertChecks, AlertShadowMarks } from "#ports/index.ts";
import { equalsGiven } from "../database/conditions.ts";
import type { Row } from "../database/schema.ts";
import type { TimeSpan } from "../ledger/ledger-grains.ts";
import type { ReportContext } from "./report-context.ts";

/** The latest checks and entries of a time; earlier ones do not count. */
const rowsMax = 20_000;
/** Combinations of a guardrail and a verdict, or of a key and its marks. */
const groupsMax = 2_000;

/** Findings and failed checks of guardrails by workspace, guardrail and verdict. */
export async function alertChecks(
  { connection }: ReportContext,
  { workspaceId, guardrailId, from, to }: TimeSpan & AlertChecksFilter,
): Promise<readonly AlertChecks[]> {
  const latest = connection
    .selectFrom("guardrail_checks")
    .select(["workspace_id", "guardrail_id", "guardrail_name", "verdict", "enforced", "request_id", "error"])
    .where("at", ">=", from)
    .where("at", "<", to)
    .where((eb) =>
      eb.and(
        equalsGiven<Row<"guardrail_checks">>({ workspace_id: workspaceId ?? undefined, guardrail_id: guardrailId }),
      ),
    )
    .orderBy("at", "desc")
    .limit(rowsMax);
  const rows = await connection
    .selectFrom(latest.as("latest"))
    .select((eb) => [
      "workspace_id as workspaceId",
      "guardrail_id as guardrailId",
      "verdict",
      "enforced",
      eb.fn.max("guardrail_name").as("name"),
      eb.fn.count<number>("request_id").distinct().as("requests"),
      eb.fn.max("error").as("error"),
    ])
    .groupBy(["workspace_id", "guardrail_id", "verdict", "enforced"])
    .orderBy("requests", "desc")
    .limit(groupsMax)
    .execute();
  return rows.map((row) => ({ ...row, requests: Number(row.requests), enforced: row.enforced === 1 }));
}

/** Calls that limits and grants in shadow mode would have refused, by key and mark. */
export async function alertShadowMarks(
  { connection }: ReportContext,
  { workspaceId, from, to }: TimeSpan & Pick<AlertChecksFilter, "workspaceId">,
): Promise<readonly AlertShadowMarks[]> {
  const latest = connection
    .selectFrom("ledger")
    .select(["workspace_id", "group_id", "key_id", "person_id", "warnings"])
    .where("at", ">=", from)
    .where("at", "<", to)
    .where((eb) => eb.and(equalsGiven<Row<"ledger">>({ workspace_id: workspaceId ?? undefined })))
    .orderBy("at", "desc")
    .limit(rowsMax);
  const rows = await connection
    .selectFrom(latest.as("latest"))
    .select(["workspace_id", "group_id", "key_id", "person_id", "warnings"])
    .where("warnings", "like", `%"${shadowRefusedPrefix}%`)
    .groupBy(["workspace_id", "group_id", "key_id", "person_id", "warnings"])
    .limit(groupsMax)
    .execute();
  return rows.map(({ workspace_id, group_id, key_id, person_id, warnings }) => ({
    ...{ workspaceId: workspace_id, groupId: group_id, keyId: key_id, personId: person_id || null },
    warnings: JSON.parse(warnings ?? "[]") as string[],
  }));
}

interface AlertChecksFilter {
  /** null: every workspace. */
  readonly workspaceId: string | null;
  readonly guardrailId?: string | undefined;
}
