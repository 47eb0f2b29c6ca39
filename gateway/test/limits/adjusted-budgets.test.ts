import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AgentFixture, startAgentFixture } from "../agents/agent-fixture.ts";
import { aliceKey, hello, upstream } from "../started-gateway.ts";

const start = (dataDir: string) =>
  startAgentFixture({
    environment: { dataDir },
    providers: (simulator) => [upstream("main", simulator, { billing: { kind: "csv" } })],
    models: [{ name: "gpt-test", deployments: [{ provider: "main" }], price: { input: 1, output: 10 } }],
    keys: [{ name: "alice", secret: aliceKey, budget: { usd: 1, period: "total" } }],
  });

const statusOf = async ({ gateway }: AgentFixture) => (await gateway.chat(hello)).status;

test("an accepted difference counts in budgets at once and after a restart, and so does its reversal", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "sluice-adjusted-"));
  let fixture = await start(dataDir);
  try {
    expect(await statusOf(fixture)).toBe(200);
    await fixture.gateway.entries();
    const day = new Date((await fixture.gateway.entries())[0]?.at ?? 0).toISOString().slice(0, 10);
    const accept = async (cost: number) => {
      const text = `day,model,cost\n${day},gpt-test,${cost}\n`;
      expect((await fixture.ada.call("POST", "/api/reconciliation/main/file", { text })).status).toBe(200);
      const line = { model: "gpt-test", class: "all" };
      const accepted = await fixture.ada.call("POST", `/api/reconciliation/main/${day}/accept`, line);
      expect([accepted.status, accepted.body.lines[0].state]).toEqual([200, "matched"]);
    };
    await accept(2);
    expect(await statusOf(fixture)).toBe(402);
    await fixture.stop();
    fixture = await start(dataDir);
    expect(await statusOf(fixture)).toBe(402);
    await accept(0.5);
    expect(await statusOf(fixture)).toBe(200);
    const adjustments = (await fixture.gateway.entries()).filter(({ endpoint }) => endpoint === "adjustment");
    expect(adjustments.map(({ costNanoUsd }) => Math.sign(costNanoUsd)).toSorted()).toEqual([-1, 1]);
  } finally {
    await fixture.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
});

test("a bill that cannot be read or compared gets a clear error", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "sluice-adjusted-"));
  const fixture = await start(dataDir);
  try {
    const upload = async (text: string, provider = "main") =>
      (await fixture.ada.call("POST", `/api/reconciliation/${provider}/file`, { text })).body.error;
    expect((await upload("model,cost\na,1\n")).message).toContain("no column day or date");
    expect((await upload("day,model,cost\n2026-11-28,a,many\n")).message).toContain('"many" is not an amount in USD');
    expect((await upload("day,model,cost\n2026-11-28,a\n")).message).toContain("line 2 has 2 fields");
    expect((await upload("day,model,cost,currency\n2026-11-28,a,1,EUR\n")).message).toContain("EUR");
    expect((await upload("day,model,cost\n")).message).toContain("no rows");
    expect((await upload("day,model,cost\n2026-11-28,a,1\n", "other")).code).toBe("not_found");
    const read = await fixture.ada.call("POST", "/api/reconciliation/main/read", {});
    expect([read.status, read.body.error.message]).toEqual([409, expect.stringContaining("Upload one")]);
    expect((await upload("day,model,class,units,cost\n2026-11-28,gpt-never,output,10,1\n")) ?? null).toBeNull();
    const unused = await fixture.ada.call("POST", "/api/reconciliation/main/2026-11-28/accept", {
      model: "gpt-never",
      class: "output",
    });
    expect([unused.status, unused.body.error.message]).toEqual([
      409,
      expect.stringContaining("No one used gpt-never on 2026-11-28"),
    ]);
  } finally {
    await fixture.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
});
