import { expect, test } from "bun:test";
import { aliceKey, hello, startGateway } from "../../started-gateway.ts";

test("returns 402 with the limit, the amount used, the scope and the reset time", async () => {
  const gateway = await startGateway({
    // A call with 5 output tokens costs 50,000 nano-USD plus its input, so the third would exceed the budget.
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

test("admits ten of many concurrent calls when the budget covers ten", async () => {
  const gateway = await startGateway({
    keys: [{ name: "alice", secret: aliceKey }],
    workspace: { budget: { usd: 0.0005, period: "total" } },
    models: [{ name: "gpt-test", deployments: [{ provider: "main" }], price: { input: 0, output: 10 } }],
  });
  try {
    // Depending on the other calls, the eleventh finds its budget reserved (429) or spent (402).
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
