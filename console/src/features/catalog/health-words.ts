import type { Health } from "@sluice/contract";
import { formatCount, formatDuration } from "../../client/format.ts";
import { t } from "../../language/areas/catalog.ts";

const stateWords = {
  unknown: t("catalog.idle"),
  healthy: t("catalog.healthy"),
  degraded: t("catalog.degraded"),
  unhealthy: t("catalog.unhealthy"),
  down: t("catalog.down"),
} as const satisfies Record<Health["state"], string>;

export function healthLabel(health: Health): string {
  return wasAsked(health) && health.state === "unknown" ? t("catalog.notKnown") : stateWords[health.state];
}

/** Why it is as it is, and what comes next, in a sentence or two. */
export function healthReason(health: Health): string {
  return [stateReason(health), hourReason(health)].filter((part) => part !== null).join(" ");
}

function stateReason(health: Health): string {
  const { state, breaker, cooling_ms, latency_ms } = health;
  if (state === "down") {
    return t("catalog.itFailedAgainAndAgain");
  }
  if (state === "unhealthy") {
    if (cooling_ms > 0) return t("catalog.itAskedForFewerCalls", { duration: formatDuration(roundUp(cooling_ms)) });
    if (breaker === "open") return t("catalog.someOfItsDeploymentsFail");
    return t("catalog.itFailedLatelyAndIs");
  }
  if (state === "unknown") {
    return wasAsked(health) ? t("catalog.noCallWentWellLately") : t("catalog.nobodyHasCalledItLately");
  }
  if (state === "degraded") return t("catalog.itAnswersButManyCalls");
  return latency_ms === null
    ? t("catalog.itAnswers")
    : t("catalog.itAnswersAfterOnAverage", { latency_ms: formatDuration(latency_ms) });
}

/** After a restart the ledger knows of calls of which the router does not. */
function wasAsked({ last_hour }: Health): boolean {
  return last_hour !== null && last_hour.attempts > 0;
}

function hourReason({ last_hour }: Health): string | null {
  if (last_hour === null) return t("catalog.figuresOfTheLastHour");
  const { attempts, failed } = last_hour;
  if (attempts === 0 || failed === 0) return null;
  return t("catalog.ofAttemptsFailedInThe", { failed: formatCount(failed), attempts: formatCount(attempts) });
}

function roundUp(ms: number): number {
  return Math.ceil(ms / 1_000) * 1_000;
}

/** How a model is whose deployments are so: well while one of them is, down when all are. */
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
