import { shadowRefusalOf } from "@sluice/contract/words";
import { personScopeId } from "#core/index.ts";
import type { AlertChecks, AlertShadowMarks, ReportStore } from "#ports/index.ts";
import { decided, type Finding, type Findings, type Watched } from "./finding.ts";

export interface GuardrailSources {
  readonly reports: Pick<ReportStore, "alertChecks" | "alertShadowMarks">;
  readonly slugOf: (workspaceId: string) => string;
}

const minuteMs = 60_000;
/** Entries are stored when their calls end, and dated when they began. */
const shadowWindowMs = 60 * minuteMs;

/** Guardrails that blocked, masked or flagged enough requests. `shadowFindings` reports the ones in shadow mode. */
export async function guardrailFindings(
  { workspaceId, condition }: Watched<"guardrail_findings">,
  sources: GuardrailSources,
  now: number,
): Promise<Findings> {
  const { guardrail, verdict, requests: requestsMin, minutes } = condition;
  const checks = await checksOf({ workspaceId, guardrail, minutes }, sources, now);
  const counted = checks.filter((row) => {
    return row.enforced && row.verdict !== "failed" && (verdict === undefined || verdict === row.verdict);
  });
  return decided(
    byGuardrail(counted, "guardrail_findings", sources)
      .filter(({ facts }) => Number(facts["requests"]) >= requestsMin)
      .map((finding) => ({
        ...finding,
        facts: { ...finding.facts, minutes, ...(verdict === undefined ? {} : { verdict }) },
      })),
  );
}

/** Guardrails with failed checks: `on_error` decides whether the calls are refused, or pass unchecked. */
export async function guardrailFailures(
  { workspaceId, condition }: Watched<"guardrail_failure">,
  sources: GuardrailSources,
  now: number,
): Promise<Findings> {
  const { guardrail, failures, minutes } = condition;
  const checks = await checksOf({ workspaceId, guardrail, minutes }, sources, now);
  const failed = checks.filter(({ verdict }) => verdict === "failed");
  return decided(
    byGuardrail(failed, "guardrail_failure", sources)
      .filter(({ facts }) => Number(facts["requests"]) >= failures)
      .map((finding) => ({ ...finding, facts: { ...finding.facts, minutes } })),
  );
}

/** The first event of each guardrail, limit, budget and grant in shadow mode. Its alert stays open until a day without one. */
export async function shadowFindings(
  { workspaceId }: Pick<Watched<"shadow">, "workspaceId">,
  sources: GuardrailSources,
  now: number,
): Promise<Findings> {
  const { reports, slugOf } = sources;
  const span = { workspaceId, from: now - shadowWindowMs, to: now };
  const checks = await reports.alertChecks(span);
  const guardrails = checks.filter(({ enforced, verdict }) => !enforced && verdict !== "failed");
  const found = new Map<string, Finding>();
  for (const finding of byGuardrail(guardrails, "shadow", sources)) found.set(finding.subject, finding);
  for (const entry of await reports.alertShadowMarks(span)) {
    for (const finding of markFindings(entry, slugOf)) found.set(finding.subject, finding);
  }
  return decided([...found.values()]);
}

interface ChecksAsk {
  readonly workspaceId: string | null;
  readonly guardrail: string | undefined;
  readonly minutes: number;
}

async function checksOf(
  { workspaceId, guardrail, minutes }: ChecksAsk,
  { reports }: GuardrailSources,
  now: number,
): Promise<readonly AlertChecks[]> {
  const one = guardrail === undefined ? {} : { guardrailId: guardrail };
  return await reports.alertChecks({ workspaceId, from: now - minutes * minuteMs, to: now, ...one });
}

/** A finding for each guardrail in each workspace. A request with two verdicts counts for both. */
function byGuardrail(
  checks: readonly AlertChecks[],
  kind: "guardrail_findings" | "guardrail_failure" | "shadow",
  { slugOf }: GuardrailSources,
): readonly Finding[] {
  const bySubject = Map.groupBy(checks, (row) => `${kind} guardrail ${row.workspaceId} ${row.guardrailId}`);
  return [...bySubject].flatMap(([subject, rows]): Finding[] => {
    const [first] = rows;
    if (first === undefined) return [];
    const { workspaceId, guardrailId, name } = first;
    const problem = rows.find(({ error }) => error !== null)?.error ?? null;
    const facts = {
      ...{ workspace: slugOf(workspaceId), guardrail_id: guardrailId, guardrail: name },
      requests: rows.reduce((sum, { requests }) => sum + requests, 0),
      ...(problem === null ? {} : { problem }),
    };
    return [{ ...{ kind, subject, workspaceId, facts }, personId: null, level: 1, severity: "warning" }];
  });
}

function markFindings(
  { workspaceId, groupId, keyId, personId, warnings }: AlertShadowMarks,
  slugOf: GuardrailSources["slugOf"],
): readonly Finding[] {
  return warnings.flatMap((warning): Finding[] => {
    const refusal = shadowRefusalOf(warning);
    if (refusal === null) return [];
    const { scope, text } = refusal;
    const ids = { workspace: workspaceId, group: groupId, person: personId ?? "", key: keyId } as const;
    const id = scope === "person" ? personScopeId(workspaceId, ids.person) : ids[scope];
    return [
      {
        ...{ kind: "shadow", workspaceId, level: 1, severity: "warning" },
        // The text has the amount of a limit: another amount is another rule.
        subject: `shadow ${scope} ${id} ${text}`,
        // Only the user of a personal key, and admins, may see its calls.
        personId: scope === "key" || scope === "person" ? personId : null,
        facts: { workspace: slugOf(workspaceId), rule: text, scope, scope_id: ids[scope], grant: refusal.grant },
      },
    ];
  });
}
