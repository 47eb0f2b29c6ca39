import { expect, test } from "bun:test";
import type { Script } from "@sluice/simulator";
import { bounds } from "#core/index.ts";
import { systemClock } from "#system/index.ts";
import { type RawUpstream, rawAnswer, startRawUpstream } from "../../raw-upstream.ts";
import { errorOf, hello, startGateway, upstream } from "../../started-gateway.ts";

test.each([
  ["an error status", { status: 500 }, "upstream_error", "none"],
  ["a reply that is not JSON", { malformed: true }, "upstream_error", "estimated"],
  ["a connection that closes without an answer", { drop: true }, "upstream_unreachable", "estimated"],
  ["a rejected credential", { status: 401 }, "upstream_error", "none"],
] as const)("returns 502 after %s from the only deployment", async (_title, script, code, usageSource) => {
  const gateway = await startGateway();
  try {
    const response = await gateway.chat(hello, { script });
    expect(await errorOf(response)).toMatchObject({ status: 502, code });
    const entries = await gateway.entries();
    expect(entries.length).toBe(Number(response.headers.get("x-sluice-attempts")));
    for (const entry of entries) {
      expect(entry).toMatchObject({ outcome: "failed", usageSource });
      expect(entry.costNanoUsd > 0).toBe(usageSource === "estimated");
    }
    expect(new Set(entries.map((entry) => entry.retryIndex)).size).toBe(entries.length);
  } finally {
    await gateway.stop();
  }
});

/** How the first of two deployments refuses a call. */
const refusals = [
  ["an error status", {}, { status: 500 }],
  ["an overloaded upstream", { stream: true }, { status: 529 }],
  ["an error event instead of an answer", { stream: true }, { error_event_after: 0 }],
  ["a rejected credential", {}, { status: 401 }],
  ["a rate limit that asks to wait", {}, { status: 429, retry_after: 60 }],
  ["a spent quota", {}, { status: 429, body: '{"error":{"code":"insufficient_quota"}}' }],
] as const;

/** Failures after which the upstream may have executed the request. */
const losses = [
  ["a reply that is not JSON", {}, { malformed: true }],
  ["a stream that ends before its first event", { stream: true }, { end_after_events: 0 }],
  ["a stream that is cut before its first event", { stream: true }, { cut_after_events: 0 }],
  ["a stream that breaks inside its first event", { stream: true }, { cut_after_events: 0, half_event: true }],
  ["a connection that closes without an answer", {}, { drop: true }],
  ["an answer that is lost", {}, { answer_lost: "cut" }],
  ["an answer that is lost by a reset", {}, { answer_lost: "reset" }],
  ["silence", {}, { latency_ms: 60_000 }],
  ["silence after the status line", { stream: true }, { first_event_ms: 60_000 }],
] as const;

/**
 * Short timeouts only where silence is the fault: on a busy machine, any other answer might be slow enough to time out.
 */
const timeoutsOf = ({ latency_ms: answer, first_event_ms: event }: Script) =>
  (answer ?? event) === undefined ? {} : { headers_ms: 300, first_event_ms: 300 };

const startWithFault = (fault: Script, retrySent: boolean | null) =>
  startGateway({
    providers: (simulator) => [
      upstream("main", simulator, { timeouts: timeoutsOf(fault) }),
      upstream("spare", simulator),
    ],
    models: [
      {
        name: "gpt-test",
        deployments: [
          { provider: "main", priority: 1, upstream_model: `sim${JSON.stringify(fault)}bad` },
          { provider: "spare", priority: 2 },
        ],
        price: { input: 1.25, output: 10 },
      },
    ],
    workspace: { budget: { usd: 1, period: "day" } },
    settings: retrySent === null ? {} : { retry_sent: retrySent },
  });

test.each([
  ...refusals.map((row) => [...row, null] as const),
  ...losses.map(([title, more, fault]) => [`${title}, where the operator allows a retry,`, more, fault, true] as const),
])("tries another deployment after %s, and records each attempt", async (_title, more, fault, retrySent) => {
  const gateway = await startWithFault(fault, retrySent);
  try {
    const response = await gateway.chat({ ...hello, ...more }, { script: { tokens: 2 } });
    await response.text();
    expect(response.status).toBe(200);
    expect(response.headers.get("x-sluice-provider")).toBe("spare");
    expect(response.headers.get("x-sluice-attempts")).toBe("2");
    const entries = [...(await gateway.entries())].sort((one, other) => one.retryIndex - other.retryIndex);
    expect(entries.map((entry) => [entry.provider, entry.outcome, entry.usageSource])).toEqual([
      ["main", "failed", retrySent === true ? "estimated" : "none"],
      ["spare", "succeeded", "upstream"],
    ]);
    expect(entries.map(({ costNanoUsd }) => costNanoUsd > 0)).toEqual([retrySent === true, true]);
    expect(gateway.simulator.simulator.truth.list().total).toBe(2);
    expect(gateway.gateway.outstanding()).toBe(0);
  } finally {
    await gateway.stop();
  }
});

test.each(losses)("tries no other deployment after %s, and charges the input", async (_title, more, fault) => {
  const gateway = await startWithFault(fault, null);
  try {
    const response = await gateway.chat({ ...hello, ...more });
    expect([502, 504]).toContain(response.status);
    expect(response.headers.get("x-sluice-attempts")).toBe("1");
    const entries = await gateway.entries();
    expect(entries).toMatchObject([{ provider: "main", outcome: "failed", usageSource: "estimated" }]);
    expect(entries[0]?.usage.inputUncached).toBeGreaterThan(0);
    expect(entries[0]?.costNanoUsd).toBe(1_250 * (entries[0]?.usage.inputUncached ?? 0));
    expect(gateway.simulator.simulator.truth.list().total).toBe(1);
    expect(gateway.gateway.outstanding()).toBe(0);
  } finally {
    await gateway.stop();
  }
});

/**
 * Serves complete answers on persistent connections. While `stale` is true, resets a reused connection when a request
 * arrives.
 */
async function upstreamWithStaleConnections(stale: () => boolean): Promise<RawUpstream> {
  const used = new WeakSet<object>();
  return await startRawUpstream((socket) => {
    if (stale() && used.has(socket)) socket.resetAndDestroy();
    else socket.write(rawAnswer(reply, "content-type: application/json\r\n"));
    used.add(socket);
  });
}

const reply = JSON.stringify({
  id: "c",
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 },
});

test("retries on a new connection, at no cost, when the upstream has closed a persistent one", async () => {
  let stale = false;
  const upstream = await upstreamWithStaleConnections(() => stale);
  // Only the test moves the monotonic clock, so a slow machine changes nothing.
  let monotonicMs = 0;
  const gateway = await startGateway({
    clock: { ...systemClock, monotonic: () => monotonicMs },
    providers: () => [
      { id: "main", kind: "openai-compatible", base_url: upstream.url, api_key: "k", allow_private_network: true },
    ],
  });
  try {
    // The first call opens a connection, and the second one reuses it.
    for (let call = 0; call < 2; call++) expect((await gateway.chat(hello)).status).toBe(200);
    monotonicMs += bounds.staleSilenceMs;
    stale = true;
    const response = await gateway.chat(hello);
    expect([response.status, response.headers.get("x-sluice-attempts")]).toEqual([200, "2"]);
    expect(upstream.requests).toHaveLength(4);
    const [served, before] = await gateway.entries();
    expect([served?.outcome, served?.retryIndex]).toEqual(["succeeded", 1]);
    expect(before).toMatchObject({ outcome: "failed", errorCode: "upstream_unreachable", usageSource: "none" });
  } finally {
    await gateway.stop();
    upstream.stop();
  }
});

test("waits ten minutes for an answer to begin, or as long as the provider's timeouts allow", async () => {
  const gateway = await startGateway({
    providers: (simulator) => [
      upstream("default", simulator),
      upstream("configured", simulator, { timeouts: { headers_ms: 45_000 } }),
    ],
    models: [{ name: "gpt-test", deployments: [{ provider: "default" }] }],
  });
  try {
    const timeouts = [...(await gateway.control.controlStore.configSnapshot()).providers.values()].map(
      (one) => one.timeouts,
    );
    expect(timeouts.map(({ headersMs, firstEventMs, idleMs }) => [headersMs, firstEventMs, idleMs])).toEqual([
      [45_000, 600_000, 600_000],
      [600_000, 600_000, 600_000],
    ]);
  } finally {
    await gateway.stop();
  }
});

test("skips an unreachable upstream and serves with a fallback model", async () => {
  const gateway = await startGateway({
    providers: (simulator) => [
      upstream("gone", simulator, { base_url: "http://127.0.0.1:1/v1" }),
      upstream("main", simulator),
    ],
    models: [
      { name: "gpt-test", deployments: [{ provider: "gone" }], fallbacks: ["gpt-small"] },
      { name: "gpt-small", deployments: [{ provider: "main" }] },
    ],
  });
  try {
    const response = await gateway.chat(hello, { script: { tokens: 1 } });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-sluice-provider")).toBe("main");
    const served = (await gateway.entries()).find((entry) => entry.outcome === "succeeded");
    expect(served).toMatchObject({ model: "gpt-small", requestedModel: "gpt-test" });
  } finally {
    await gateway.stop();
  }
});
