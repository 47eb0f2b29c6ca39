import { expect, test } from "bun:test";
import { errorOf, hello, startHouse, upstream } from "../../started-house.ts";

test.each([
  ["an error status", { status: 500 }, "upstream_error"],
  ["a reply that is not JSON", { malformed: true }, "upstream_error"],
  ["a connection that closes without an answer", { drop: true }, "upstream_unreachable"],
  ["a refused credential", { status: 401 }, "upstream_error"],
] as const)("%s of the only deployment becomes %s", async (_title, script, code) => {
  const house = await startHouse();
  try {
    const response = await house.chat(hello, { script });
    expect(await errorOf(response)).toMatchObject({ status: 502, code });
    const entries = await house.entries();
    expect(entries.length).toBe(Number(response.headers.get("x-sluice-attempts")));
    for (const entry of entries)
      expect(entry).toMatchObject({ outcome: "failed", costNanoUsd: 0, usageSource: "none" });
    expect(new Set(entries.map((entry) => entry.retryIndex)).size).toBe(entries.length);
  } finally {
    await house.stop();
  }
});

test.each([
  ["an error status", {}, { status: 500 }],
  ["an overloaded upstream", { stream: true }, { status: 529 }],
  ["a reply that is not JSON", {}, { malformed: true }],
  ["a stream that ends before its first event", { stream: true }, { end_after_events: 0 }],
  ["a stream that is cut before its first event", { stream: true }, { cut_after_events: 0 }],
  ["a stream that breaks inside its first event", { stream: true }, { cut_after_events: 0, half_event: true }],
  ["an error event instead of an answer", { stream: true }, { error_event_after: 0 }],
  ["a connection that closes without an answer", {}, { drop: true }],
  ["a refused credential", {}, { status: 401 }],
  ["a rate limit that asks to wait", {}, { status: 429, retry_after: 60 }],
  ["a spent quota", {}, { status: 429, body: '{"error":{"code":"insufficient_quota"}}' }],
] as const)("after %s another deployment serves, and each attempt has its entry", async (_title, more, fault) => {
  const house = await startHouse({
    providers: (simulator) => [upstream("main", simulator), upstream("spare", simulator)],
    models: [
      {
        name: "gpt-test",
        deployments: [
          { provider: "main", priority: 1, upstream_model: `sim${JSON.stringify(fault)}bad` },
          { provider: "spare", priority: 2 },
        ],
      },
    ],
  });
  try {
    const response = await house.chat({ ...hello, ...more }, { script: { tokens: 2 } });
    await response.text();
    expect(response.status).toBe(200);
    expect(response.headers.get("x-sluice-provider")).toBe("spare");
    expect(response.headers.get("x-sluice-attempts")).toBe("2");
    const entries = [...(await house.entries())].sort((one, other) => one.retryIndex - other.retryIndex);
    expect(entries.map((entry) => [entry.provider, entry.outcome])).toEqual([
      ["main", "failed"],
      ["spare", "succeeded"],
    ]);
    expect(house.simulator.simulator.truth.list().total).toBe(2);
    expect(house.house.outstanding()).toBe(0);
  } finally {
    await house.stop();
  }
});

test("an unreachable upstream is passed over, and a fallback model may serve", async () => {
  const house = await startHouse({
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
    const response = await house.chat(hello, { script: { tokens: 1 } });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-sluice-provider")).toBe("main");
    const served = (await house.entries()).find((entry) => entry.outcome === "succeeded");
    expect(served).toMatchObject({ model: "gpt-small", requestedModel: "gpt-test" });
  } finally {
    await house.stop();
  }
});
