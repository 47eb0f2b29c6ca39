import { isDemo } from "#core/index.ts";
import { priceListDate } from "#providers/index.ts";
import { priceListInUse } from "../models/price-list-reading.ts";
import { type Check, type Finding, placeOf } from "./finding.ts";

const dayMs = 86_400_000;
const unpricedDays = 7;
const priceListOldDays = 30;
const installation = { kind: "gateway", id: "", name: "" } as const;

/** Models without a price, with the requests that they got, and a price list that is too old to be right. */
export const checkPrices: Check = async ({ now }, dependencies) => {
  const unpriced = [...dependencies.configSnapshot().models.values()].filter(
    (model) => (model.price === null || model.blocked !== undefined) && !isDemo(model),
  );
  const findings: Finding[] = [];
  if (unpriced.length > 0) {
    const used = await dependencies.reports.modelUsage(null, now - unpricedDays * dayMs, now);
    const requests = new Map(used.map((each) => [each.model, each.requests]));
    for (const { name } of unpriced) {
      const count = requests.get(name) ?? 0;
      if (count === 0) continue;
      findings.push({
        ...{ severity: "warning", code: "model_unpriced", params: { name, requests: count }, weight: count },
        ...{ workspace: null, subject: { kind: "model", id: name, name } },
      });
    }
    const count = unpriced.length - findings.length;
    if (count > 0) {
      const code = "models_unpriced_unused";
      findings.push({ severity: "notice", code, params: { count }, workspace: null, subject: installation });
    }
  }
  const since = priceListDate(await priceListInUse(dependencies));
  const days = since === null ? 0 : Math.floor((now - since) / dayMs);
  if (days > priceListOldDays) {
    const code = "price_list_old";
    findings.push({ severity: "notice", code, params: { days }, workspace: null, subject: installation });
  }
  return findings;
};

/** Alerts that could not be sent, and webhooks of tasks that were given up within a day. */
export const checkWebhooks: Check = async ({ workspace, now }, dependencies) => {
  const { alertSettings, alertLog, videos, configSnapshot } = dependencies;
  const findings: Finding[] = [];
  const channels = (await alertSettings.channels()).filter(({ enabled, workspaceId }) => {
    return enabled && (workspace === null || workspaceId === workspace.id);
  });
  const latest = await alertLog.lastDeliveries(channels.map(({ id }) => id));
  for (const { id, name, workspaceId } of channels) {
    const last = latest.get(id);
    if (last === undefined || last.ok) continue;
    const home = workspaceId === null ? undefined : configSnapshot().workspaces.get(workspaceId);
    findings.push({
      ...{ severity: "warning", code: "alert_failed", params: { name }, weight: last.at },
      ...{ workspace: home === undefined ? null : placeOf(home), subject: { kind: "alert", id, name } },
    });
  }
  for (const { workspaceId, taskId, count } of await videos.failedWebhooks(workspace?.id ?? null, now - dayMs)) {
    const home = configSnapshot().workspaces.get(workspaceId);
    if (home === undefined) continue;
    findings.push({
      ...{ severity: "warning", code: "webhooks_failed", params: { count }, weight: count },
      ...{ workspace: placeOf(home), subject: { kind: "task", id: taskId, name: taskId } },
    });
  }
  return findings;
};

/** The ledger is behind from this number of waiting entries. */
const entriesBehind = 10_000;

/** The ledger, the database and the processes of the installation. */
export const checkGateway: Check = async (_scope, dependencies) => {
  const { journalHealthy, journalLag } = await dependencies.processFacts.read();
  const entries = { entries: journalLag };
  const about = { workspace: null, subject: installation } as const;
  const findings: Finding[] = [];
  if (!journalHealthy) findings.push({ ...about, severity: "critical", code: "ledger_unwritten", params: entries });
  else if (journalLag >= entriesBehind) {
    findings.push({ ...about, severity: "warning", code: "ledger_behind", params: entries });
  }
  for (const problem of dependencies.gatewayProblems()) {
    findings.push({ ...about, severity: "warning", code: "gateway_problem", params: { problem } });
  }
  if (dependencies.databaseKind === "sqlite") return findings;
  for (const { id, host, isAlive } of await dependencies.listProcesses()) {
    if (isAlive) continue;
    const subject = { kind: "process", id, name: host } as const;
    findings.push({ severity: "warning", code: "process_silent", params: { name: host }, workspace: null, subject });
  }
  return findings;
};
