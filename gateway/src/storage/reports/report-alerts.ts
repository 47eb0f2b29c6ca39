import { type Expression, expressionBuilder, type SqlBool } from "kysely";
import { nanoToUsd } from "#core/index.ts";
import type { AlertSpend, AlertTraffic, AlertTrafficFilter, ProviderAttempts } from "#ports/index.ts";
import { equalsGiven } from "../database/conditions.ts";
import { addSketch, noCounts, percentilesOf, sketchOfText } from "../database/latency-sketch.ts";
import type { Row, Tables } from "../database/schema.ts";
import type { ScopeColumn, TimeSpan } from "../ledger/ledger-grains.ts";
import { countedEntries } from "../ledger/ledger-rollup.ts";
import type { ReportContext } from "./report-context.ts";
import { joinedTexts } from "./report-figures.ts";
import { sumsByScope } from "./report-sums.ts";

/** The latest entries of a time; earlier ones do not count. */
const entriesMax = 20_000;

/** Requests by workspace, from the latest entries of a time. */
export async function alertTraffic(
  context: ReportContext,
  { from, to, ...filter }: AlertTrafficFilter & TimeSpan,
): Promise<readonly AlertTraffic[]> {
  const { connection } = context;
  const entries = connection
    .selectFrom(countedEntries(connection).as("usage_rollups"))
    .where(filtered(filter))
    .where("hour", ">=", from)
    .where("hour", "<", to)
    .select(["workspace_id", "requests", "succeeded", "cancelled", "call_ms_sketch"])
    .orderBy("hour", "desc")
    .limit(entriesMax);
  const rows = await connection
    .selectFrom(entries.as("entries"))
    .select((eb) => [
      "workspace_id",
      eb.fn.sum<number>("requests").as("requests"),
      eb.fn.sum<number>("succeeded").as("succeeded"),
      eb.fn.sum<number>("cancelled").as("cancelled"),
      joinedTexts(context, "call_ms_sketch", " ").as("times"),
    ])
    .groupBy("workspace_id")
    .execute();
  return rows.map(({ workspace_id: workspaceId, times, ...sums }) => {
    const requests = Number(sums.requests);
    const counts = noCounts();
    for (const ms of (times ?? "").split(" ")) addSketch(counts, sketchOfText(ms));
    const [p95 = null] = percentilesOf(counts, [0.95]);
    const failed = Math.max(0, requests - Number(sums.succeeded) - Number(sums.cancelled));
    return { workspaceId, requests, failed, p95Ms: p95 };
  });
}

/** Attempts by provider, from the latest entries of a time. Failures that callers caused are left out. */
export async function alertProviders(
  { connection }: ReportContext,
  from: number,
  to: number,
): Promise<readonly ProviderAttempts[]> {
  const entries = connection
    .selectFrom("ledger")
    .select(["provider", "outcome", "http_status"])
    .where("at", ">=", from)
    .where("at", "<", to)
    .where("provider", "!=", "")
    // Adjustments, and the usage of another model, are no attempts.
    .where("calls", "!=", 0)
    .where((eb) =>
      eb.or([eb("outcome", "=", "succeeded"), eb.and([eb("outcome", "=", "failed"), eb("http_status", ">=", 500)])]),
    )
    .orderBy("at", "desc")
    .limit(entriesMax);
  const rows = await connection
    .selectFrom(entries.as("entries"))
    .select((eb) => [
      "provider",
      eb.fn.countAll<number>().as("attempts"),
      eb.fn.countAll<number>().filterWhere("outcome", "=", "failed").as("failed"),
    ])
    .groupBy("provider")
    .execute();
  return rows.map(({ provider, attempts, failed }) => ({
    provider,
    attempts: Number(attempts),
    failed: Number(failed),
  }));
}

/** Spend by workspace in several times, in whole hours. Only workspaces that spent `minUsd` in the first one. */
export async function alertSpend(
  context: ReportContext,
  filter: AlertTrafficFilter,
  spans: readonly TimeSpan[],
  minUsd: number,
): Promise<readonly AlertSpend[]> {
  const { connection, deadline } = context;
  const sums: Map<string, number>[] = [];
  for (const span of spans) {
    deadline.check();
    const spends = [...(await spendByWorkspace(context, filter, span))];
    sums.push(new Map(sums.length === 0 ? spends.filter(([, usd]) => usd >= minUsd).slice(0, candidatesMax) : spends));
    if (sums[0]?.size === 0) return [];
  }
  const earliest = Math.min(...spans.map(({ from }) => from));
  const found: AlertSpend[] = [];
  for (const workspaceId of sums[0]?.keys() ?? []) {
    deadline.check();
    const first = await connection
      .selectFrom("usage_rollups")
      .where(filtered({ ...filter, workspaceId }))
      .select("hour")
      .where("hour", ">=", earliest - historyMs)
      .orderBy("hour")
      .limit(1)
      .executeTakeFirst();
    found.push({ workspaceId, usd: sums.map((sum) => sum.get(workspaceId) ?? 0), firstAt: first?.hour ?? null });
  }
  return found;
}

async function spendByWorkspace(
  context: ReportContext,
  filter: AlertTrafficFilter,
  span: TimeSpan,
): Promise<Map<string, number>> {
  const columns = Object.entries(scopeOf(filter)).filter(([, value]) => value !== undefined);
  const rows = await sumsByScope(context, {
    ...span,
    names: ["workspace_id"],
    sums: ["cost_nano_usd"],
    filterColumns: columns.map(([column]) => column as ScopeColumn),
    filter: (given) => given.where(filtered(filter)),
    filtered: ["alert", columns],
  });
  return new Map(rows.map(({ workspace_id: id, cost_nano_usd: nano }) => [id, nanoToUsd(nano)]));
}

const candidatesMax = 200;
/** A workspace may have spent nothing in just the first of the compared times. */
const historyMs = 86_400_000;

function filtered(filter: AlertTrafficFilter): Expression<SqlBool> {
  return expressionBuilder<Tables>().and([...equalsGiven<Row<"usage_rollups">>(scopeOf(filter))]);
}

function scopeOf({ workspaceId, model, provider, groupId, keyId }: AlertTrafficFilter) {
  return { workspace_id: workspaceId ?? undefined, model, provider, group_id: groupId, key_id: keyId };
}
