import { expect, test } from "bun:test";
import { hello, startGateway } from "../../started-gateway.ts";

test("serves health, readiness and metrics without a key", async () => {
  const gateway = await startGateway();
  try {
    expect(await (await gateway.get("/healthz", {})).text()).toBe("ok\n");
    expect(await (await gateway.get("/readyz", {})).text()).toBe("ready\n");
    await (await gateway.chat(hello, { script: { tokens: 3 } })).text();
    const metrics = await (await gateway.get("/metrics", {})).text();
    expect(metrics).toMatch(/sluice_requests_total\{[^}]*route="chat"[^}]*status="200"[^}]*\} 1/);
    expect(metrics).toMatch(/sluice_tokens_total\{[^}]*class="output"[^}]*\} 3/);
    expect(metrics).toContain("sluice_ledger_lag_entries");
  } finally {
    await gateway.stop();
  }
});
