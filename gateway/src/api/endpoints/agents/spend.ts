import { nanoToUsd } from "#core/index.ts";
import { authenticated } from "../../authenticated.ts";
import type { Endpoint } from "../../dependencies.ts";
import { guardHeaders } from "./oauth-answer.ts";

/**
 * GET: what the person's agents have spent, and every budget over them, as a gateway of Claude Code tells it: amounts in cents,
 * shares in percent, the tightest budget first and active.
 */
export const getSpend: Endpoint = async (dependencies, exchange) => {
  const principal = await authenticated(dependencies, exchange);
  const [spent, statuses] = await Promise.all([
    dependencies.periodSpend(principal),
    dependencies.limitUsage(principal),
  ]);
  const caps = statuses
    .filter(({ kind }) => kind === "budget")
    .map(({ period, limit, used, resets_at }) => ({
      period: period ?? "total",
      cents: limit * 100,
      percent: used === null ? null : percentOf(used, limit),
      resetsAt: resets_at === null ? null : new Date(resets_at * 1_000).toISOString(),
    }))
    .sort((one, other) => (other.percent ?? -1) - (one.percent ?? -1));
  const active = caps[0];
  const capOf = (period: string) => caps.find((cap) => cap.period === period);
  const part = (period: "day" | "week") => ({
    limit: capOf(period)?.cents ?? null,
    used_credits: centsOf(spent[period]),
    utilization: capOf(period)?.percent ?? null,
  });
  const body = {
    extra_usage: {
      is_enabled: true,
      monthly_limit: active?.cents ?? null,
      used_credits: centsOf(spent.month),
      utilization: active?.percent ?? null,
      currency: "USD",
      daily: part("day"),
      weekly: part("week"),
    },
    limits: caps.map(({ period, percent, resetsAt }, place) => ({
      kind: "spend",
      group: groups[period] ?? period,
      percent,
      resets_at: resetsAt,
      severity: severityOf(percent ?? 0),
      is_active: place === 0,
    })),
  };
  return Response.json(body, {
    headers: { ...guardHeaders, "x-request-id": exchange.requestId, "cache-control": "no-store" },
  });
};

const groups: Readonly<Record<string, string>> = { day: "daily", week: "weekly", month: "monthly" };

/** From these shares of a budget on. */
function severityOf(percent: number): "normal" | "warning" | "critical" {
  if (percent >= 100) return "critical";
  return percent >= 75 ? "warning" : "normal";
}

/** A budget of nothing is spent from the start. */
function percentOf(used: number, limit: number): number {
  return limit <= 0 ? 100 : Math.round((used / limit) * 10_000) / 100;
}

function centsOf(nanoUsd: number): number {
  return Math.round(nanoToUsd(nanoUsd) * 10_000) / 100;
}
