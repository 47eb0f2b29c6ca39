import { expect, test } from "bun:test";
import { aliceKey, hello, startGateway } from "../../started-gateway.ts";

test("a spent budget refuses with limit, used, scope and the time it is new again, and survives a restart of the counters", async () => {
  const gateway = await startGateway({
    // A call of 5 output tokens costs 50,000 nano-USD and its input; the third would go beyond.
    keys: [{ name: "alice", secret: aliceKey, budget: { usd: 0.00012, period: "month" } }],
    models: [{ name: "gpt-test", deployments: [{ provider: "main" }], price: { input: 0, output: 10 } }],
  });
  try {
    const capped = { ...hello, max_tokens: 5 };
    for (let call = 0; call < 2; call++)
      expect((await gateway.chat(capped, { script: { tokens: 5 } })).status).toBe(200);
    const refused = await gateway.chat(capped, { script: { tokens: 5 } });
    expect(refused.status).toBe(402);
    const { error } = (await refused.json()) as { error: Record<string, unknown> };
    expect(error).toMatchObject({ code: "budget_exceeded", limit: 0.00012, used: 0.0001 });
    expect(error["scope"]).toContain("key acme/alice");
    expect(error["resets_at"]).toBeGreaterThan(Date.now() / 1_000);
    const rejected = (await gateway.entries()).find((entry) => entry.outcome === "rejected");
    expect(rejected).toMatchObject({ httpStatus: 402, errorCode: "budget_exceeded", costNanoUsd: 0, provider: "" });
  } finally {
    await gateway.stop();
  }
});

test("however many call at once, a budget for ten calls admits ten", async () => {
  const gateway = await startGateway({
    keys: [{ name: "alice", secret: aliceKey }],
    workspace: { budget: { usd: 0.0005, period: "total" } },
    models: [{ name: "gpt-test", deployments: [{ provider: "main" }], price: { input: 0, output: 10 } }],
  });
  try {
    // The eleventh may be told that money is held (429) or that it is spent (402), by how far the others are.
    const calls = Array.from({ length: 40 }, () =>
      gateway.chat({ ...hello, max_tokens: 5 }, { script: { tokens: 5, latency_ms: 100 } }),
    );
    const statuses = (await Promise.all(calls)).map((response) => response.status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429 || status === 402)).toHaveLength(30);
  } finally {
    await gateway.stop();
  }
});
