import type { Health } from "@sluice/contract";
import { formatCount, formatDuration } from "../../client/format.ts";

const stateWords = {
  unknown: "Idle",
  healthy: "Healthy",
  degraded: "Degraded",
  unhealthy: "Unhealthy",
  down: "Down",
} as const satisfies Record<Health["state"], string>;

export function healthLabel(health: Health): string {
  return wasAsked(health) && health.state === "unknown" ? "Not known" : stateWords[health.state];
}

/** Why it is as it is, and what comes next, in a sentence or two. */
export function healthReason(health: Health): string {
  return [stateReason(health), hourReason(health)].filter((part) => part !== null).join(" ");
}

function stateReason(health: Health): string {
  const { state, breaker, cooling_ms, latency_ms } = health;
  if (state === "down") {
    return "It failed again and again, so calls go past it. It is tried again by itself after a while.";
  }
  if (state === "unhealthy") {
    if (cooling_ms > 0) return `It asked for fewer calls and rests for another ${formatDuration(roundUp(cooling_ms))}.`;
    if (breaker === "open") return "Some of its deployments fail and are passed by; the others work.";
    return "It failed lately and is being tried again with single calls.";
  }
  if (state === "unknown") {
    return wasAsked(health)
      ? "No call went well lately, and none was tried since the gateway started."
      : "Nobody has called it lately, so nothing is known.";
  }
  if (state === "degraded") return "It answers, but many calls to it fail.";
  return latency_ms === null ? "It answers." : `It answers after ${formatDuration(latency_ms)} on average.`;
}

/** After a restart the ledger knows of calls of which the router does not. */
function wasAsked({ last_hour }: Health): boolean {
  return last_hour !== null && last_hour.attempts > 0;
}

function hourReason({ last_hour }: Health): string | null {
  if (last_hour === null) return "Figures of the last hour could not be read.";
  const { attempts, failed } = last_hour;
  if (attempts === 0 || failed === 0) return null;
  return `${formatCount(failed)} of ${formatCount(attempts)} attempts failed in the last hour.`;
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
