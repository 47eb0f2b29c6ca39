import { personOf } from "#core/index.ts";
import type { AlertTraffic, AlertTrafficFilter, ReportStore } from "#ports/index.ts";
import type { BudgetSources } from "./budget-findings.ts";
import { decided, type Finding, type Findings, type Watched } from "./finding.ts";

export interface TrafficSources extends Pick<BudgetSources, "controlStore"> {
  readonly reports: Pick<ReportStore, "alertTraffic" | "alertProviders" | "alertSpend">;
  readonly slugOf: (workspaceId: string) => string;
  /** Providers with an open circuit breaker at every deployment, in this process. */
  readonly openProviders: () => readonly string[];
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const weekMs = 7 * dayMs;

export async function errorRateFindings(
  watched: Watched<"error_rate">,
  sources: TrafficSources,
  now: number,
): Promise<Findings> {
  const { percent: limit, minutes, min_requests: requestsMin } = watched.condition;
  const traffic = await trafficOf(watched, sources, now);
  return await workspaceFindings(watched, traffic, sources, ({ requests, failed }) => {
    const percent = (100 * failed) / requests;
    if (requests < requestsMin || percent < limit) return null;
    return { severity: percent >= 50 ? "critical" : "warning", facts: { percent, failed, requests, minutes } };
  });
}

export async function latencyFindings(
  watched: Watched<"latency">,
  sources: TrafficSources,
  now: number,
): Promise<Findings> {
  const { ms, minutes, min_requests: requestsMin } = watched.condition;
  const traffic = await trafficOf(watched, sources, now);
  return await workspaceFindings(watched, traffic, sources, ({ requests, p95Ms }) => {
    if (requests < requestsMin || p95Ms === null || p95Ms <= ms) return null;
    return { severity: "warning", facts: { p95_ms: p95Ms, limit_ms: ms, requests, minutes } };
  });
}

/**
 * A provider is down if every recent attempt failed by its fault, in any process, or if this process sends it nothing. Without attempts
 * its state is unclear, so an open alert stays open; see `providerIdleMs`.
 */
export async function providerFindings(
  { condition }: Watched<"provider_down">,
  { reports, openProviders }: TrafficSources,
  now: number,
): Promise<Findings> {
  const { minutes } = condition;
  const sums = await reports.alertProviders(now - minutes * minuteMs, now);
  const isWatched = (provider: string) => condition.provider === undefined || condition.provider === provider;
  const found = new Map<string, Finding>();
  const add = (provider: string, attempts: number, failed: number) => {
    const facts = { provider, attempts, failed, minutes };
    const subject = `provider ${provider}`;
    const finding = { kind: "provider_down", subject, workspaceId: null, personId: null, level: 1 } as const;
    found.set(subject, { ...finding, severity: "critical", facts });
  };
  for (const provider of openProviders()) if (isWatched(provider)) add(provider, 0, 0);
  for (const { provider, attempts, failed } of sums) {
    if (isWatched(provider) && attempts >= condition.min_attempts && failed === attempts) {
      add(provider, attempts, failed);
    }
  }
  const active = new Set(sums.map(({ provider }) => `provider ${provider}`));
  return { ...decided([...found.values()]), undecided: { has: (subject) => !active.has(subject) } };
}

/** A provider without attempts for this long is no longer reported as down. */
export const providerIdleMs = hourMs;

/** Number of past weeks to compare with. */
const weeks = 4;
/** Younger workspaces raise no alert: two weeks are needed for a usual spend. */
const weeksMin = 2;

/**
 * Compares the running time with the same time of the last four weeks: since the start of the previous hour, or since midnight UTC. It is
 * unusual if it is above the average times `factor`, above the average by `min_usd`, and above each of these weeks.
 */
export async function spendFindings(
  watched: Watched<"spend_anomaly">,
  sources: TrafficSources,
  now: number,
): Promise<Findings> {
  const { span, factor, min_usd: usdMin } = watched.condition;
  const hourEnd = Math.floor(now / hourMs) * hourMs + hourMs;
  const from = span === "hour" ? hourEnd - 2 * hourMs : Math.floor(now / dayMs) * dayMs;
  const spans = Array.from({ length: weeks + 1 }, (_, week) => ({
    from: from - week * weekMs,
    to: hourEnd - week * weekMs,
  }));
  const spend = await sources.reports.alertSpend(filterOf(watched), spans, usdMin);
  return await workspaceFindings(watched, spend, sources, ({ usd, firstAt }) => {
    const [spent = 0, ...past] = usd;
    const usable = past.filter((_, week) => firstAt !== null && firstAt <= from - (week + 1) * weekMs);
    if (usable.length < weeksMin) return null;
    const usual = usable.reduce((sum, each) => sum + each, 0) / usable.length;
    const isUnusual = spent >= usual * factor && spent - usual >= usdMin && spent > Math.max(...usable);
    return isUnusual ? { severity: "warning", facts: { spent_usd: spent, usual_usd: usual, span } } : null;
  });
}

type Filtered = Watched<"error_rate"> | Watched<"latency"> | Watched<"spend_anomaly">;

async function trafficOf(
  watched: Watched<"error_rate"> | Watched<"latency">,
  { reports }: TrafficSources,
  now: number,
): Promise<readonly AlertTraffic[]> {
  const from = now - watched.condition.minutes * minuteMs;
  return await reports.alertTraffic({ ...filterOf(watched), from, to: now });
}

/** A finding for each workspace with a problem. `problemOf` returns null if the condition does not hold. */
async function workspaceFindings<Sums extends { readonly workspaceId: string }>(
  { condition }: Filtered,
  workspaces: readonly Sums[],
  { slugOf, controlStore }: TrafficSources,
  problemOf: (sums: Sums) => Pick<Finding, "severity" | "facts"> | null,
): Promise<Findings> {
  const { kind, key: keyId } = condition;
  const key = keyId === undefined ? null : await controlStore.keyById(keyId);
  // Only the user of a personal key, and admins, may see its calls.
  const personId = key === null ? null : personOf(key);
  const found = workspaces.flatMap((sums): Finding[] => {
    const { workspaceId } = sums;
    const problem = problemOf(sums);
    if (problem === null) return [];
    const facts = { workspace: slugOf(workspaceId), ...problem.facts, ...factsOfFilter(condition) };
    const subject = `${kind} ${workspaceId}`;
    const { severity } = problem;
    return [{ kind, subject, workspaceId, personId, level: severity === "critical" ? 2 : 1, severity, facts }];
  });
  return decided(found);
}

function filterOf({ workspaceId, condition }: Filtered): AlertTrafficFilter {
  const { model, provider, group, key } = condition;
  return {
    workspaceId,
    ...(model === undefined ? {} : { model }),
    ...(provider === undefined ? {} : { provider }),
    ...(group === undefined ? {} : { groupId: group }),
    ...(key === undefined ? {} : { keyId: key }),
  };
}

/** The alert's sentence names `filter`; links use the other facts. */
function factsOfFilter({ model, provider, group, key }: Filtered["condition"]) {
  const filter = [model, provider].filter((name) => name !== undefined).join(", ");
  return {
    ...(filter === "" ? {} : { filter }),
    ...(model === undefined ? {} : { model }),
    ...(provider === undefined ? {} : { provider }),
    ...(group === undefined ? {} : { group }),
    ...(key === undefined ? {} : { key }),
  };
}
