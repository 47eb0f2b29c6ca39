import type { Health } from "@sluice/contract";
import { formatCount, formatDuration } from "../../client/format.ts";
import { t } from "../../language/areas/catalog.ts";
import { t as stateText } from "../../language/areas/components.ts";

/** The label of each state, for filters and lists. */
export const healthWords = {
  healthy: stateText("components.states.healthy"),
  degraded: stateText("components.states.degraded"),
  unhealthy: stateText("components.states.unhealthy"),
  down: stateText("components.states.down"),
  unknown: stateText("components.states.idle"),
} as const satisfies Record<Health["state"], string>;

export const healthChoices = Object.entries(healthWords).map(([value, label]) => ({ value, label }));

export function healthLabel(health: Health): string {
  if (isRecovering(health)) return t("catalog.health.recovering");
  return hadCalls(health) && health.state === "unknown"
    ? stateText("components.states.unknown")
    : healthWords[health.state];
}

/** The reason for the state, and what happens next, in one or two sentences. */
export function healthReason(health: Health): string {
  return [stateReason(health), hourReason(health)].filter((part) => part !== null).join(" ");
}

function stateReason(health: Health): string {
  const { state, breaker, cooling_ms, latency_ms } = health;
  if (state === "down") {
    return t("catalog.health.downHelp");
  }
  if (state === "unhealthy") {
    if (cooling_ms > 0) return t("catalog.health.coolingHelp", { duration: formatDuration(roundUp(cooling_ms)) });
    return breaker === "open" ? t("catalog.health.partlyDownHelp") : t("catalog.health.recoveringHelp");
  }
  if (state === "unknown") {
    return hadCalls(health) ? t("catalog.health.unknownHelp") : t("catalog.health.idleHelp");
  }
  if (state === "degraded") return t("catalog.health.degradedHelp");
  return latency_ms === null
    ? t("catalog.health.healthyHelp")
    : t("catalog.health.latencyHelp", { latency: formatDuration(latency_ms) });
}

/** It failed, and single requests test whether it works again. */
function isRecovering({ state, breaker, cooling_ms }: Health): boolean {
  return state === "unhealthy" && breaker === "half-open" && cooling_ms === 0;
}

/** After a restart, the ledger has calls that the router has not seen. */
function hadCalls({ last_hour }: Health): boolean {
  return last_hour !== null && last_hour.attempts > 0;
}

function hourReason({ last_hour }: Health): string | null {
  if (last_hour === null) return t("catalog.health.noFigures");
  const { attempts, failed } = last_hour;
  if (attempts === 0 || failed === 0) return null;
  return t("catalog.health.failures", { failed: formatCount(failed), attempts: formatCount(attempts) });
}

function roundUp(ms: number): number {
  return Math.ceil(ms / 1_000) * 1_000;
}

/** The health of a model by its deployments: healthy if all are, down if all are. */
export function jointState(states: readonly Health["state"][]): Health["state"] {
  if (states.length === 0) return "unknown";
  if (states.every((state) => state === "down")) return "down";
  if (states.some((state) => state === "down" || state === "unhealthy")) return "unhealthy";
  if (states.includes("degraded")) return "degraded";
  return states.includes("healthy") ? "healthy" : "unknown";
}

/** The share of attempts that failed in the last hour; null when there were none. */
export function failedShare(health: Health): number | null {
  const hour = health.last_hour;
  return hour === null || hour.attempts === 0 ? null : hour.failed / hour.attempts;
}
