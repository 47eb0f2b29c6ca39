import { expect, test } from "bun:test";
import { hello, startHouse } from "../../started-house.ts";

test("health, readiness and metrics are open and say what is", async () => {
  const house = await startHouse();
  try {
    expect(await (await house.get("/healthz", {})).text()).toBe("ok\n");
    expect(await (await house.get("/readyz", {})).text()).toBe("ready\n");
    await (await house.chat(hello, { script: { tokens: 3 } })).text();
    const metrics = await (await house.get("/metrics", {})).text();
    expect(metrics).toMatch(/sluice_requests_total\{[^}]*route="chat"[^}]*status="200"[^}]*\} 1/);
    expect(metrics).toMatch(/sluice_tokens_total\{[^}]*class="output"[^}]*\} 3/);
    expect(metrics).toContain("sluice_ledger_lag_entries");
  } finally {
    await house.stop();
  }
});
