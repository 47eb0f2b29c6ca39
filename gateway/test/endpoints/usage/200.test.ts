import { expect, test } from "bun:test";
import { aliceKey, errorOf, hello, startGateway } from "../../started-gateway.ts";

test("returns a key's usage and the state of its limits", async () => {
  const gateway = await startGateway({
    keys: [{ name: "alice", secret: aliceKey, limits: { rpm: 100 }, budget: { usd: 5, period: "month" } }],
  });
  try {
    await (await gateway.chat(hello, { script: { tokens: 4, prompt_tokens: 6 } })).text();
    await gateway.entries();
    const body = (await (await gateway.get("/v1/usage")).json()) as Record<string, unknown>;
    expect(body).toMatchObject({
      object: "usage",
      data: [{ model: "gpt-test", requests: 1, input_tokens: 6, output_tokens: 4 }],
      totals: { requests: 1, cost_usd: 0.0000475 },
    });
    const limits = body["limits"] as { kind: string; limit: number; used: number }[];
    expect(limits.find((limit) => limit.kind === "budget")).toMatchObject({
      period: "month",
      limit: 5,
      used: 0.0000475,
    });
    expect(limits.find((limit) => limit.kind === "rpm")).toMatchObject({ limit: 100, used: 1 });
    expect(await errorOf(await gateway.get("/v1/usage?from=yesterday"))).toMatchObject({ status: 400, param: "from" });
  } finally {
    await gateway.stop();
  }
});

test("returns costs reported by vendors as well as costs by the configured prices", async () => {
  const usage = { prompt_tokens: 1_000, completion_tokens: 0, total_tokens: 1_000, cost: 0.25 };
  const choices = [{ index: 0, message: { role: "assistant", content: "x" }, finish_reason: "stop" }];
  using server = Bun.serve({
    idleTimeout: 0,
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => Response.json({ id: "c", choices, usage }),
  });
  const gateway = await startGateway({
    providers: () => [
      {
        id: "router",
        kind: "openrouter",
        base_url: `http://127.0.0.1:${server.port}/v1`,
        api_key: "sk-upstream",
        allow_private_network: true,
      },
    ],
    models: [{ name: "routed", deployments: [{ provider: "router" }], price: { input: 100, output: 0 } }],
    keys: [{ name: "alice", secret: aliceKey }],
  });
  try {
    await (await gateway.chat({ ...hello, model: "routed" })).text();
    await gateway.entries();
    const costs = { cost_usd: 0.25, vendor_cost_usd: 0.25, own_cost_usd: 0.1 };
    expect(await (await gateway.get("/v1/usage")).json()).toMatchObject({
      data: [{ model: "routed", ...costs }],
      totals: costs,
    });
  } finally {
    await gateway.stop();
  }
});
