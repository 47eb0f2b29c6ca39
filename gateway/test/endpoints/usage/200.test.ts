import { expect, test } from "bun:test";
import { aliceKey, errorOf, hello, startGateway } from "../../started-gateway.ts";

test("a key sees what it has used and how it stands against its limits", async () => {
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
