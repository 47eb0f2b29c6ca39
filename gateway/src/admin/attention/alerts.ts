import { alertSentence } from "@sluice/contract/words";
import { viewerOf } from "../handlers/alert-handlers.ts";
import { type Check, type Finding, placeOf } from "./finding.ts";

/** The most open alerts that are read. The page of alerts lists all. */
const openAlertsMax = 200;

/** Open alerts. `joined` removes the ones that another check has found. */
export const checkAlerts: Check = async ({ workspace, actor }, { alertLog, configSnapshot }) => {
  const place = workspace === null ? {} : { workspaceId: workspace.id };
  const { data } = await alertLog.page(viewerOf(actor), { state: "open", ...place }, null, openAlertsMax);
  return data.map(({ id, kind, facts, severity, workspaceId, ruleName, changedAt }): Finding => {
    const home = workspaceId === null ? undefined : configSnapshot().workspaces.get(workspaceId);
    return {
      ...{ severity, code: "alert_open", weight: changedAt, alerts: [{ id, kind, facts }] },
      params: { text: alertSentence({ kind, facts }, "en") },
      ...{
        workspace: home === undefined ? null : placeOf(home),
        subject: { kind: "alert", id, name: ruleName ?? kind },
      },
    };
  });
};

/** Kinds of alerts about conditions that no other check finds. */
const onlyByRules: ReadonlySet<string> = new Set([
  "error_rate",
  "latency",
  "spend_anomaly",
  "guardrail_findings",
  "guardrail_failure",
  "batch_rows_failed",
  "batch_stuck",
  "bill_difference",
]);

/** Attaches alerts to the finding about the same object, so that nothing is listed twice. */
export function joined(findings: readonly Finding[]): readonly Finding[] {
  const alerts = findings.filter(({ code }) => code === "alert_open");
  const found = findings.filter(({ code }) => code !== "alert_open");
  const used = new Set<Finding>();
  const withAlerts = found.map((finding) => {
    const about = alerts.filter((alert) => isAbout(alert, finding));
    for (const alert of about) used.add(alert);
    return { ...finding, alerts: about.flatMap((alert) => alert.alerts ?? []) };
  });
  return [...withAlerts, ...alerts.filter((each) => !used.has(each) && onlyByRules.has(kindOf(each)))];
}

function kindOf({ alerts }: Finding): string {
  return alerts?.[0]?.kind ?? "";
}

function isAbout({ alerts, workspace }: Finding, { code, subject, workspace: place }: Finding): boolean {
  const { kind, facts = {} } = alerts?.[0] ?? {};
  switch (kind) {
    case "budget":
      return code.startsWith("budget_") && subject.kind === facts["scope"] && subject.id === facts["scope_id"];
    case "provider_down":
      return subject.kind === "provider" && subject.id === facts["provider"];
    case "token_expiry":
      return subject.kind === "key" && subject.id === facts["key_id"];
    case "error_rate": {
      const isFiltered = ["model", "provider", "group", "key"].some((filter) => facts[filter] !== undefined);
      return code === "error_spike" && workspace?.id === place?.id && !isFiltered;
    }
    default:
      return false;
  }
}
