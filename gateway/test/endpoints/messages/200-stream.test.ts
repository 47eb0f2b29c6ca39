import { afterAll, beforeAll, expect, test } from "bun:test";
import { type StartedGateway, startGateway } from "../../started-gateway.ts";
import { claudeGateway, hi, version } from "./claude-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(claudeGateway);
});
afterAll(() => gateway.stop());

const streamed = { ...hi, stream: true };

test("passes a stream event for event and records its last usage", async () => {
  const response = await gateway.post("/v1/messages", streamed, {
    headers: version,
    script: { tokens: 7, prompt_tokens: 50, cached_tokens: 20, late_usage: true },
  });
  const text = await response.text();
  expect(text).toStartWith("event: message_start\n");
  expect(text).toContain("event: message_stop\n");
  const [entry] = await gateway.entries();
  expect(entry?.usage).toMatchObject({ inputUncached: 30, cacheRead: 20, output: 7 });
  expect(entry).toMatchObject({ outcome: "succeeded", usageSource: "upstream" });
});

test("ends a cut stream with an error event, and records the input from its start and the output so far", async () => {
  const response = await gateway.post("/v1/messages", streamed, {
    headers: version,
    script: { tokens: 20, prompt_tokens: 50, cut_after_events: 8, event_ms: 20 },
  });
  const text = await response.text();
  expect(text).not.toContain("message_stop");
  const last = text.trimEnd().split("\n\n").at(-1) ?? "";
  expect(last).toStartWith("event: error\n");
  expect(JSON.parse(last.slice(last.indexOf("data: ") + 6))).toMatchObject({
    type: "error",
    error: { type: "api_error" },
  });
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ outcome: "failed", errorCode: "upstream_truncated", usageSource: "estimated" });
  expect(entry?.usage.inputUncached).toBe(50);
  expect(entry?.usage.output).toBeGreaterThan(0);
});

test("passes an upstream's error event unchanged and marks the entry as failed", async () => {
  const response = await gateway.post("/v1/messages", streamed, {
    headers: version,
    script: { tokens: 20, error_event_after: 6, event_ms: 4 },
  });
  expect(await response.text()).toContain("event: error\n");
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ outcome: "failed", errorCode: "upstream_error" });
});
