import { personOf } from "#core/index.ts";
import type { AlertTrafficFilter, ReportStore } from "#ports/index.ts";
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
  { reports, slugOf, ...sources }: TrafficSources,
  now: number,
): Promise<Findings> {
  const { condition } = watched;
  const personId = await personWatched(condition, sources);
  const sums = await reports.alertTraffic({ ...filterOf(watched), from: now - condition.minutes * minuteMs, to: now });
  const found = sums.flatMap(({ workspaceId, requests, failed }): Finding[] => {
    const percent = (100 * failed) / requests;
    if (requests < condition.min_requests || percent < condition.percent) return [];
    return [
      {
        kind: "error_rate",
        subject: `error_rate ${workspaceId}`,
        ...{ workspaceId, personId, level: 1 },
        severity: percent >= 50 ? "critical" : "warning",
        facts: {
          workspace: slugOf(workspaceId),
          ...{ percent, failed, requests, minutes: condition.minutes },
          ...factsOfFilter(condition),
        },
      },
    ];
  });
  return decided(found);
}

export async function latencyFindings(
  watched: Watched<"latency">,
  { reports, slugOf, ...sources }: TrafficSources,
  now: number,
): Promise<Findings> {
  const { condition } = watched;
  const personId = await personWatched(condition, sources);
  const sums = await reports.alertTraffic({ ...filterOf(watched), from: now - condition.minutes * minuteMs, to: now });
  const found = sums.flatMap(({ workspaceId, requests, p95Ms }): Finding[] => {
    if (requests < condition.min_requests || p95Ms === null || p95Ms <= condition.ms) return [];
    return [
      {
        kind: "latency",
        subject: `latency ${workspaceId}`,
        ...{ workspaceId, personId, level: 1 },
        severity: "warning",
        facts: {
          workspace: slugOf(workspaceId),
          ...{ p95_ms: p95Ms, limit_ms: condition.ms, requests, minutes: condition.minutes },
          ...factsOfFilter(condition),
        },
      },
    ];
  });
  return decided(found);
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

/** The weeks that are compared. */
const weeks = 4;
/** Younger workspaces raise no alert: two weeks are needed for a usual spend. */
const weeksMin = 2;

/**
 * Compares the running time with the same time of the last four weeks: since the start of the previous hour, or since midnight UTC. It is
 * unusual if it is above the average times `factor`, above the average by `min_usd`, and above each of these weeks.
 */
export async function spendFindings(
  watched: Watched<"spend_anomaly">,
  { reports, slugOf, ...sources }: TrafficSources,
  now: number,
): Promise<Findings> {
  const { condition } = watched;
  const personId = await personWatched(condition, sources);
  const hourEnd = Math.floor(now / hourMs) * hourMs + hourMs;
  const from = condition.span === "hour" ? hourEnd - 2 * hourMs : Math.floor(now / dayMs) * dayMs;
  const spans = Array.from({ length: weeks + 1 }, (_, week) => ({
    from: from - week * weekMs,
    to: hourEnd - week * weekMs,
  }));
  const sums = await reports.alertSpend(filterOf(watched), spans, condition.min_usd);
  const found = sums.flatMap(({ workspaceId, usd, firstAt }): Finding[] => {
    const [spent = 0, ...past] = usd;
    const usable = past.filter((_, week) => firstAt !== null && firstAt <= from - (week + 1) * weekMs);
    if (usable.length < weeksMin) return [];
    const usual = usable.reduce((sum, each) => sum + each, 0) / usable.length;
    const isUnusual =
      spent >= usual * condition.factor && spent - usual >= condition.min_usd && spent > Math.max(...usable);
    if (!isUnusual) return [];
    return [
      {
        kind: "spend_anomaly",
        subject: `spend_anomaly ${workspaceId}`,
        ...{ workspaceId, personId, level: 1 },
        severity: "warning",
        facts: {
          workspace: slugOf(workspaceId),
          ...{ spent_usd: spent, usual_usd: usual, span: condition.span },
          ...factsOfFilter(condition),
        },
      },
    ];
  });
  return decided(found);
}

type Filtered = Watched<"error_rate"> | Watched<"latency"> | Watched<"spend_anomaly">;

/** The user of the personal key that a rule watches. Only they and admins may see its calls. */
async function personWatched(
  { key }: Filtered["condition"],
  { controlStore }: Pick<TrafficSources, "controlStore">,
): Promise<string | null> {
  const found = key === undefined ? null : await controlStore.keyById(key);
  return found === null ? null : personOf(found);
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

/** `filter`: for the sentence; the others are for links. */
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
