import { afterEach, expect, test } from "bun:test";
import type { BillDayDetail } from "@sluice/contract";
import { until } from "../../../test/until.ts";
import { type AgentFixture, startAgentFixture } from "../agents/agent-fixture.ts";
import { MovedClock } from "../moved-clock.ts";
import { type Overrides, upstream } from "../started-gateway.ts";
import { workloadOf } from "../workload-fixture.ts";

let fixture: AgentFixture;
afterEach(() => fixture.stop());

const adminKey = "sk-ant-admin01-of-the-bill";
const price = { input: 100, cache_read: 10, output: 1_000 };
const prices = {
  "claude-right": { input: 100, cached: 10, output: 1_000 },
  "claude-price": { input: 100, cached: 10, output: 2_000 },
};

async function start(
  kind: "anthropic" | "openrouter",
  clock?: MovedClock,
  account: object = {},
  { admin_key = adminKey, ...more }: Overrides & { readonly admin_key?: string } = {},
): Promise<void> {
  fixture = await startAgentFixture({
    ...more,
    ...(clock === undefined ? {} : { clock }),
    providers: (simulator) => [
      upstream("main", simulator, {
        billing: { kind, admin_key, base_url: simulator.url.replace(/\/v1$/, ""), lag_days: 1, account },
      }),
    ],
    models: Object.keys(prices).map((name) => ({ name, deployments: [{ provider: "main" }], price })),
  });
  fixture.gateway.simulator.simulator.setBilling({ adminKey, prices, pageRows: 2 });
}

async function differences(): Promise<readonly (readonly [string, string, string])[]> {
  const script = { prompt_tokens: 1_000, cached_tokens: 400, tokens: 50 };
  for (const model of Object.keys(prices)) {
    const answer = await fixture.gateway.chat({ model, messages: [{ role: "user", content: "Hi" }] }, { script });
    expect(answer.status).toBe(200);
    await answer.text();
  }
  const [entry] = await fixture.gateway.entries();
  const day = new Date(entry?.at ?? 0).toISOString().slice(0, 10);
  const read = await fixture.ada.call("POST", "/api/reconciliation/main/read", { from: day, to: day });
  expect(read.status).toBe(200);
  const { body } = await fixture.ada.call("GET", `/api/reconciliation/main/${day}`);
  const { lines } = body as BillDayDetail;
  expect(lines.length).toBeGreaterThan(1);
  return lines.flatMap((line) =>
    line.state === "matched" ? [] : line.causes.map(({ cause }) => [line.model, line.class, cause] as const),
  );
}

test("reads Anthropic's analytics page by page, and finds a wrong price", async () => {
  await start("anthropic");
  expect(await differences()).toEqual([["claude-price", "output", "wrong_price"]]);
});

test("asks for smaller pages of Anthropic's reports while they are too large", async () => {
  await start("anthropic");
  const { simulator } = fixture.gateway.simulator;
  simulator.setBilling({ adminKey, prices, pageRows: 2, limitMax: 1 });
  expect(await differences()).toEqual([["claude-price", "output", "wrong_price"]]);
  simulator.setBilling({ adminKey, prices, limitMax: 0 });
  const refused = await fixture.ada.call("POST", "/api/reconciliation/main/read", {});
  expect([refused.status, refused.body.error.message]).toEqual([502, expect.stringContaining("too much usage")]);
});

test("reads the admin key from a secret reference each time, and names no reference in a problem", async () => {
  const files: Record<string, string> = { "/run/secrets/bill": `${adminKey}\n` };
  const workload = workloadOf({ SLUICE_SECRET_REFERENCES: "file:///run/secrets/" }, files);
  await start("anthropic", undefined, {}, { admin_key: "file:///run/secrets/bill", environment: { workload } });
  expect(await differences()).toEqual([["claude-price", "output", "wrong_price"]]);
  delete files["/run/secrets/bill"];
  const refused = await fixture.ada.call("POST", "/api/reconciliation/main/read", {});
  expect(refused.status).toBe(502);
  const today = new Date().toISOString().slice(0, 10);
  const { body } = await fixture.ada.call("GET", `/api/reconciliation?from=${today}&to=${today}`);
  expect(body.sources[0].problem).toContain("The file of a secret reference");
  expect(JSON.stringify([refused.body, body])).not.toContain("/run/secrets");
});

test("reads more days than one range of Anthropic's analytics has", async () => {
  await start("anthropic");
  await differences();
  const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10);
  const [now, dayMs] = [Date.now(), 86_400_000];
  for (const days of [31, 40, 61]) {
    const span = { from: dayOf(now - days * dayMs), to: dayOf(now) };
    const { status, body } = await fixture.ada.call("POST", "/api/reconciliation/main/read", span);
    expect([days, status, body.data?.length]).toEqual([days, 200, 1]);
    // No day is read twice.
    expect(body.data[0].their_usd).toBeCloseTo(0.278, 9);
  }
});

test("reads Anthropic's older reports with a key that may not read analytics", async () => {
  for (const analyticsRefusal of [403, 404] as const) {
    await start("anthropic");
    fixture.gateway.simulator.simulator.setBilling({ adminKey, prices, pageRows: 2, analyticsRefusal });
    expect(await differences()).toEqual([["claude-price", "output", "wrong_price"]]);
    if (analyticsRefusal === 403) await fixture.stop();
  }
});

test("counts only the chosen workspace in Anthropic's analytics", async () => {
  await start("anthropic", undefined, { workspaces: ["wrkspc_1"] });
  const workspaces = { "claude-right": "wrkspc_1", "claude-price": "wrkspc_2" };
  fixture.gateway.simulator.simulator.setBilling({ adminKey, prices, pageRows: 2, workspaces });
  // The charges of the other workspace are not on this bill.
  expect(await differences()).toEqual(
    ["input", "cache_read", "output"].map((usageClass) => ["claude-price", usageClass, "not_billed"]),
  );
});

test("counts only the chosen workspace in Anthropic's older reports, and refuses to filter them by API key", async () => {
  await start("anthropic", undefined, { workspaces: ["wrkspc_1"] });
  const { simulator } = fixture.gateway.simulator;
  const workspaces = { "claude-right": "wrkspc_1", "claude-price": "wrkspc_2" };
  simulator.setBilling({ adminKey, prices, pageRows: 2, analyticsRefusal: 403, workspaces });
  const found = await differences();
  // The charges of the other workspace are not on this bill.
  expect(new Set(found.map(([model]) => model))).toEqual(new Set(["claude-price"]));
  const [entry] = await fixture.gateway.entries();
  const day = new Date(entry?.at ?? 0).toISOString().slice(0, 10);
  const { body } = await fixture.ada.call("GET", `/api/reconciliation/main/${day}`);
  expect((body as BillDayDetail).their_usd).toBeGreaterThan(0);
  expect(
    (body as BillDayDetail).lines.filter(({ model }) => model === "claude-price").map((line) => line.their_usd),
  ).toEqual([0, 0, 0]);
  await fixture.stop();
  await start("anthropic", undefined, { api_key_ids: ["apikey_1"] });
  fixture.gateway.simulator.simulator.setBilling({ adminKey, prices, analyticsRefusal: 403 });
  const refused = await fixture.ada.call("POST", "/api/reconciliation/main/read", { from: day, to: day });
  expect([refused.status, refused.body.error.code]).toEqual([502, "upstream_error"]);
  expect(refused.body.error.message).toContain("account.workspaces");
});

test("reads OpenRouter's activity, which has one cost for each model", async () => {
  await start("openrouter");
  // Its input includes cached tokens, which the ledger counts separately.
  const found = await differences();
  expect(
    found.some(
      ([model, usageClass, cause]) => model === "claude-price" && usageClass === "all" && cause === "wrong_price",
    ),
  ).toBe(true);
});

test("reads the bill once a day, and again an hour after a failure", async () => {
  const clock = new MovedClock();
  await start("anthropic", clock);
  const { simulator } = fixture.gateway.simulator;
  simulator.setBilling({ adminKey: "sk-another", prices });
  const made = await fixture.ada.call("POST", "/api/tokens", { name: "finance", administrator: true });
  const source = async () => {
    const day = new Date(clock.now()).toISOString().slice(0, 10);
    const url = `http://localhost:${fixture.gateway.gateway.consolePort}/api/reconciliation?from=${day}&to=${day}`;
    const answer = await fetch(url, { headers: { authorization: `Bearer ${made.body.secret}` } });
    return ((await answer.json()) as { sources: { read_at: number | null; problem: string | null }[] }).sources[0];
  };
  expect(await source()).toMatchObject({ read_at: null, problem: null });
  clock.move(61_000);
  await until(async () => (await source())?.read_at != null);
  expect((await source())?.problem).toContain("status 401");
  expect((await source())?.problem).not.toContain(adminKey);
  simulator.setBilling({ adminKey, prices });
  await until(async () => {
    clock.move(3_600_001);
    return (await source())?.problem === null;
  });
});
