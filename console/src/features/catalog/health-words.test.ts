import { expect, test } from "bun:test";
import type { Health } from "@sluice/contract";
import { failedShare, healthLabel, healthReason, jointState } from "./health-words.ts";

const idle: Health = {
  state: "unknown",
  breaker: null,
  cooling_ms: 0,
  in_flight: 0,
  latency_ms: null,
  last_hour: { attempts: 0, failed: 0 },
};

test("the health reason names the problem and what happens next", () => {
  expect(healthReason({ ...idle, state: "down", breaker: "open" })).toContain("retried automatically");
  expect(healthReason({ ...idle, state: "unhealthy", cooling_ms: 11_200 })).toContain("paused for another 12.0 s");
  expect(healthReason({ ...idle, state: "unhealthy", breaker: "open" })).toContain("the others work");
  expect(healthReason({ ...idle, state: "unhealthy", breaker: "half-open" })).toContain("single requests");
  expect(healthReason({ ...idle, state: "healthy", latency_ms: 320 })).toBe("It responds in 320 ms on average.");
});

test("a half-open breaker shows as recovering, an open one as unhealthy", () => {
  const recovering: Health = { ...idle, state: "unhealthy", breaker: "half-open" };
  expect(healthLabel(recovering)).toBe("Recovering");
  expect(healthLabel({ ...recovering, cooling_ms: 1 })).toBe("Unhealthy");
  expect(healthLabel({ ...recovering, breaker: "open" })).toBe("Unhealthy");
  const states = ["healthy", "degraded", "unhealthy", "down", "unknown"] as const;
  const labels = states.map((state) => healthLabel({ ...idle, state }));
  expect(labels).toEqual(["Healthy", "Degraded", "Unhealthy", "Down", "Idle"]);
});

test("failures of the last hour are shown for healthy deployments too", () => {
  const health: Health = { ...idle, state: "healthy", last_hour: { attempts: 40, failed: 2 } };
  expect(healthReason(health)).toContain("2 of 40 attempts failed");
  expect(failedShare(health)).toBe(0.05);
  expect(healthReason({ ...idle, last_hour: null })).toContain("could not be loaded");
  expect([failedShare(idle), failedShare({ ...idle, last_hour: null })]).toEqual([null, null]);
});

test("a deployment without requests since the start is unknown, not failed", () => {
  const failed: Health = { ...idle, last_hour: { attempts: 5, failed: 5 } };
  expect([healthLabel(idle), healthLabel(failed)]).toEqual(["Idle", "Unknown"]);
  expect(healthReason(failed)).toBe(
    "No request succeeded recently, and none was sent since the gateway started. 5 of 5 attempts failed in the last hour.",
  );
});

test("a model is down only when all of its deployments are", () => {
  expect(jointState(["down", "down"])).toBe("down");
  expect(jointState(["down", "healthy"])).toBe("unhealthy");
  expect(jointState(["unknown", "healthy"])).toBe("healthy");
  expect(jointState(["degraded", "healthy"])).toBe("degraded");
  expect(jointState(["unknown"])).toBe("unknown");
  expect(jointState([])).toBe("unknown");
});
