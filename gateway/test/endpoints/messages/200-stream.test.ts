import { afterAll, beforeAll, expect, test } from "bun:test";
import { type StartedGateway, startGateway } from "../../started-gateway.ts";
import { claudeGateway, hi, version } from "./claude-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(claudeGateway);
});
afterAll(() => gateway.stop());

const streamed = { ...hi, stream: true };

test("a stream passes event for event and its usage is the last word of the upstream", async () => {
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

test("a stream that is cut ends in an error event of the dialect, and is paid from its start's numbers and what was seen", async () => {
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

test("an error event of the upstream reaches the caller as it is, and the entry is failed", async () => {
  const response = await gateway.post("/v1/messages", streamed, {
    headers: version,
    script: { tokens: 20, error_event_after: 6, event_ms: 4 },
  });
  expect(await response.text()).toContain("event: error\n");
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ outcome: "failed", errorCode: "upstream_error" });
});
