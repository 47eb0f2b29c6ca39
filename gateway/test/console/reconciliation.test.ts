import { afterAll, beforeAll, expect, test } from "bun:test";
import type {
  BillDayDetail,
  BillDayRow,
  BillLineRow,
  BillSource,
  ConsoleModel,
  ConsoleProvider,
} from "@sluice/contract";
import type { BillingRules } from "@sluice/simulator";
import { createAdjustments } from "#ledger/index.ts";
import { putSystemValue } from "#storage/tables.ts";
import { until } from "../../../test/until.ts";
import { type AgentFixture, startAgentFixture } from "../agents/agent-fixture.ts";
import { MovedClock } from "../moved-clock.ts";
import { type ChatOptions, upstream } from "../started-gateway.ts";

const dayMs = 86_400_000;
const adminKey = "sk-admin-of-the-bill-0123456789";
const price = { input: 100, cache_read: 10, output: 1_000 };
const fileModels = ["gpt-right", "gpt-past", "gpt-cut", "gpt-blind", "gpt-edge", "gpt-tier"];

/** At noon of a day that has not come, so that no call runs over midnight by accident. */
const clock = new MovedClock();
const firstShift = dayMs - (clock.now() % dayMs) + dayMs / 2;
const day = new Date(clock.now() + firstShift).toISOString().slice(0, 10);
const nextDay = new Date(clock.now() + firstShift + dayMs).toISOString().slice(0, 10);

let fixture: AgentFixture;
let rules: BillingRules;
let token: string;
beforeAll(async () => {
  fixture = await startAgentFixture({
    clock,
    providers: (simulator) => [
      upstream("main", simulator, {
        billing: { kind: "openai", admin_key: adminKey, base_url: simulator.url.replace(/\/v1$/, "") },
      }),
    ],
    models: fileModels.map((name) => ({ name, deployments: [{ provider: "main" }], price })),
  });
  const made = await fixture.ada.call("POST", "/api/tokens", { name: "finance", administrator: true });
  token = made.body.secret;
  clock.move(firstShift);
  const model = { name: "gpt-price", type: "chat", deployments: [{ provider: "main" }], price };
  expect((await call("POST", "/api/models", model)).status).toBe(201);
  const vendorPrice = { input: 100, cached: 10, output: 1_000 };
  const names = [...fileModels, "gpt-price"];
  rules = {
    adminKey,
    // The vendor charges a fifth more for the output of one model.
    prices: {
      ...Object.fromEntries(names.map((name) => [name, vendorPrice])),
      "gpt-price": { ...vendorPrice, output: 1_200 },
    },
    tiers: { "gpt-tier": { tier: "priority", factor: 2 } },
    charges: [{ day, item: "Credit", usd: -0.25 }],
    shiftsMs: { "": firstShift },
    pageRows: 3,
  };
  fixture.gateway.simulator.simulator.setBilling(rules);
});
afterAll(() => fixture.stop());

interface BillList {
  readonly sources: readonly BillSource[];
  readonly data: readonly BillDayRow[];
}

interface Refusal {
  readonly error: { readonly code: string; readonly message: string };
}

/** A program with an admin token: sessions do not follow the moved clock. */
async function call<Body = unknown>(method: string, path: string, sent?: unknown) {
  const answer = await fetch(`http://localhost:${fixture.gateway.gateway.consolePort}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(sent === undefined ? {} : { body: JSON.stringify(sent) }),
  });
  return { status: answer.status, body: (await answer.json()) as Body };
}

const body = (model: string, more: object = {}) => ({
  ...{ model, messages: [{ role: "user", content: "one two three" }] },
  ...more,
});

async function chat(model: string, options: ChatOptions = {}, more: object = {}) {
  const answer = await fixture.gateway.chat(body(model, more), options);
  await answer.text();
  return answer.status;
}

/** Starts a call before midnight (UTC) and ends it after. */
async function callOverMidnight(): Promise<void> {
  const { simulator } = fixture.gateway.simulator;
  const toMidnight = dayMs - (clock.now() % dayMs);
  clock.move(toMidnight - 60_000);
  const answered = chat("gpt-edge", { script: { latency_ms: 300, tokens: 50, prompt_tokens: 1_000 } });
  await until(
    () =>
      simulator.truth.list({ model: "gpt-edge" }).total > 0 &&
      simulator.truth.list({ model: "gpt-edge" }).data.length > 0,
  );
  clock.move(120_000);
  expect(await answered).toBe(200);
  rules = { ...rules, shiftsMs: { ...rules.shiftsMs, "gpt-edge": firstShift + toMidnight + 60_000 } };
  simulator.setBilling(rules);
}

const read = async () => await call<Refusal>("POST", "/api/reconciliation/main/read", { from: day, to: nextDay });
async function show(date = day): Promise<BillDayDetail> {
  const { status, body: detail } = await call<BillDayDetail>("GET", `/api/reconciliation/main/${date}`);
  expect(status).toBe(200);
  return detail;
}
function lineOf(detail: BillDayDetail, model: string, usageClass: string): BillLineRow {
  const line = detail.lines.find((each) => each.model === model && each.class === usageClass);
  if (line === undefined) throw new Error(`no line ${model} ${usageClass}`);
  return line;
}
const causesOf = (detail: BillDayDetail, model: string) => [
  ...new Set(
    detail.lines.flatMap((line) =>
      line.model === model && line.state !== "matched" ? line.causes.map(({ cause }) => cause) : [],
    ),
  ),
];

test("finds and names every difference between the vendor's bill and the ledger", async () => {
  const usage = { prompt_tokens: 1_000, cached_tokens: 400, tokens: 50 };
  for (const model of ["gpt-right", "gpt-price", "gpt-tier", "gpt-past"])
    expect(await chat(model, { script: usage })).toBe(200);
  await chat("gpt-blind", { script: { tokens: 40, no_usage: true } });
  await chat("gpt-cut", { script: { tokens: 40, cut_after_events: 12, prompt_tokens: 500 } }, { stream: true });
  // Someone uses the account without the gateway.
  const past = await fetch(`${fixture.gateway.simulator.url}/chat/completions`, {
    method: "POST",
    headers: { authorization: "Bearer sk-of-another-program", "x-sim-script": JSON.stringify(usage) },
    body: JSON.stringify(body("gpt-past")),
  });
  expect(past.status).toBe(200);
  await callOverMidnight();
  await fixture.gateway.entries();

  expect((await read()).status).toBe(200);
  const detail = await show();
  expect(causesOf(detail, "gpt-right")).toEqual([]);
  expect(causesOf(detail, "gpt-price")).toEqual(["wrong_price"]);
  expect(causesOf(detail, "gpt-past")).toEqual(["past_gateway"]);
  expect(causesOf(detail, "gpt-cut")).toEqual(["broken_streams"]);
  expect(causesOf(detail, "gpt-blind")).toEqual(["estimated"]);
  expect(causesOf(detail, "gpt-edge")).toEqual(["day_edge"]);
  expect(causesOf(detail, "gpt-tier")).toEqual(["tier"]);
  expect(causesOf(detail, "")).toEqual(["credit"]);
  expect(causesOf(await show(nextDay), "gpt-edge")).toEqual(["day_edge"]);

  const wrong = lineOf(detail, "gpt-price", "output");
  expect(wrong).toMatchObject({ our_units: 50, their_units: 50, our_usd: 0.05, their_usd: 0.06, vendor_price: 1_200 });
  expect(lineOf(detail, "gpt-price", "input").state).toBe("matched");
  const extra = lineOf(detail, "gpt-past", "cache_read");
  expect(extra).toMatchObject({ our_units: 400, their_units: 800, causes: [{ units: 400, usd: 0.004 }] });
  const { body: list } = await call<BillList>("GET", `/api/reconciliation?from=${day}&to=${nextDay}`);
  expect(list.sources).toMatchObject([{ provider: "main", kind: "openai", problem: null }]);
  expect(list.data.map(({ state }) => state)).toEqual(["different", "different"]);
  expect(list.data[0]?.foreign_usd).toBeGreaterThan(0.1);
});

test("exports the unexplained share of each provider's bill", async () => {
  const metrics = await (await fixture.gateway.get("/metrics")).text();
  const [, ratio] = /^sluice_bill_difference_ratio\{provider="main"\} (\S+)$/m.exec(metrics) ?? [];
  expect(Number(ratio)).toBeGreaterThan(0.1);
});

test("corrects a wrong price: takes the vendor's price, books the difference, and the next reading agrees", async () => {
  const line = { model: "gpt-price", class: "output" };
  const at = `/api/reconciliation/main/${day}`;
  const priced = await call("POST", `${at}/price`, { ...line, our_model: "gpt-price" });
  expect(priced.status).toBe(200);
  expect((await call<ConsoleModel>("GET", "/api/models/gpt-price")).body.price).toEqual({ ...price, output: 1_200 });
  const accepted = await call<BillDayDetail>("POST", `${at}/accept`, line);
  expect(lineOf(accepted.body, "gpt-price", "output")).toMatchObject({
    ...{ state: "matched", our_usd: 0.05, adjusted_usd: 0.01, their_usd: 0.06 },
    decisions: [
      { action: "priced" },
      { action: "adjusted", usd: 0.01, actor: expect.stringContaining("ada@example.com") },
    ],
  });
  expect((await call("POST", `${at}/accept`, line)).status).toBe(409);
  const entries = (await fixture.gateway.entries()).filter(({ endpoint }) => endpoint === "adjustment");
  expect(entries).toMatchObject([
    {
      model: "gpt-price",
      upstreamModel: "gpt-price",
      provider: "main",
      costNanoUsd: 10_000_000,
      calls: 0,
      adjusts: "output",
    },
  ]);
  expect(new Date(entries[0]?.at ?? 0).toISOString()).toBe(`${day}T12:00:00.000Z`);
  expect((await fixture.gateway.control.ledgerStore.check()).faults).toEqual([]);

  // A call at the new price, on the next day.
  rules = { ...rules, shiftsMs: { ...rules.shiftsMs, "gpt-price": clock.now() - Date.now() } };
  const earlier = lineOf(await show(), "gpt-price", "output");
  expect(earlier.state).toBe("matched");
  const { simulator } = fixture.gateway.simulator;
  simulator.truth.clear();
  simulator.setBilling(rules);
  await chat("gpt-price", { script: { prompt_tokens: 1_000, tokens: 50 } });
  await fixture.gateway.entries();
  expect((await call("POST", "/api/reconciliation/main/read", { from: nextDay, to: nextDay })).status).toBe(200);
  const next = await show(nextDay);
  expect(lineOf(next, "gpt-price", "output")).toMatchObject({ state: "matched", our_usd: 0.06, their_usd: 0.06 });
});

test("a day is matched once its differences are booked or explained", async () => {
  const at = `/api/reconciliation/main/${day}`;
  for (const { model, class: usageClass, state } of (await show()).lines) {
    if (state === "matched") continue;
    const line = { model, class: usageClass };
    const answer =
      model === "gpt-past" || model === ""
        ? await call("POST", `${at}/accept`, line)
        : await call("POST", `${at}/explain`, { ...line, note: "seen with the vendor" });
    expect([model, answer.status]).toEqual([model, 200]);
  }
  const { body: list } = await call<BillList>("GET", `/api/reconciliation?provider=main&from=${day}&to=${day}`);
  expect(list.data).toMatchObject([{ state: "matched", differing_usd: 0 }]);
  const credit = (await fixture.gateway.entries()).filter(({ adjustment }) => adjustment === "credit");
  expect(credit.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0)).toBe(-250_000_000);
  const { body: audit } = await call("GET", "/api/workspaces/-/audit?limit=100");
  expect(JSON.stringify(audit)).toContain(`bill main ${day} gpt-past`);
});

test("counts the daily fees of stored data as our cost, and corrections of a bill apart", async () => {
  const { simulator } = fixture.gateway.simulator;
  const at = Date.parse(`${nextDay}T03:00:00Z`);
  const adjustments = createAdjustments({ store: fixture.gateway.control.ledgerStore });
  const owner = { workspaceId: fixture.workspace, groupId: "", keyId: "", tags: {} };
  const fee = (store: string) => ({
    ...({ id: `storage/main/${store}/${nextDay}`, reason: "storage", adjusts: store, provider: "main" } as const),
    ...{ at, model: "", owner, costNanoUsd: 150_000_000 },
  });
  expect(await adjustments.book([fee("vs_1"), fee("vs_2")])).toBe(2);
  const charges = [...(rules.charges ?? []), { day: nextDay, item: "assistants api | file search", usd: 0.3 }];
  simulator.setBilling({ ...rules, charges });
  expect((await call("POST", "/api/reconciliation/main/read", { from: nextDay, to: nextDay })).status).toBe(200);
  const fees = { model: "", class: "other" };
  const line = { ...fees, our_usd: 0.3, adjusted_usd: 0, their_usd: 0.3, state: "matched" };
  expect(lineOf(await show(nextDay), "", "other")).toMatchObject(line);
  // The vendor charges more; an accepted difference is not our own cost.
  simulator.setBilling({ ...rules, charges: charges.map((charge) => ({ ...charge, usd: charge.usd * 2 })) });
  expect((await call("POST", "/api/reconciliation/main/read", { from: nextDay, to: nextDay })).status).toBe(200);
  expect((await call("POST", `/api/reconciliation/main/${nextDay}/accept`, fees)).status).toBe(200);
  const accepted = { ...line, adjusted_usd: 0.3, their_usd: 0.6 };
  expect(lineOf(await show(nextDay), "", "other")).toMatchObject(accepted);
  simulator.setBilling(rules);
});

test("notes in the audit log who replaced a bill by a file", async () => {
  const past = new Date(clock.now() - 9 * dayMs).toISOString().slice(0, 10);
  const text = `day,model,cost\n${past},gpt-right,1\n`;
  expect((await call("POST", "/api/reconciliation/main/file", { text, format: "csv" })).status).toBe(200);
  const { body: log } = await call("GET", "/api/workspaces/-/audit?limit=10");
  expect(JSON.stringify(log)).toContain(`bill main ${past} to ${past}`);
});

test("never shows the key of a billing source", async () => {
  const answers = await Promise.all(
    [
      "/api/providers",
      "/api/providers/main",
      `/api/reconciliation?from=${day}&to=${day}`,
      "/api/workspaces/-/audit?limit=100",
    ].map((path) => call<Partial<ConsoleProvider>>("GET", path)),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(JSON.stringify(answers)).not.toContain(adminKey);
  expect(answers[1]?.body.billing).toMatchObject({ kind: "openai", has_admin_key: true, tolerance_percent: null });
  const { simulator } = fixture.gateway.simulator;
  simulator.setBilling({ ...rules, adminKey: "sk-admin-another" });
  const refused = await read();
  simulator.setBilling(rules);
  expect([refused.status, refused.body.error.code]).toEqual([502, "upstream_error"]);
  expect(refused.body.error.message).toContain("status 401");
  expect(JSON.stringify(refused.body)).not.toContain(adminKey);
});

test("books nothing for a day with deleted entries, and keeps its comparison", async () => {
  const { database } = fixture.gateway.control;
  const charge = { day: nextDay, item: "gpt-price, output_tokens", usd: 0.07 };
  fixture.gateway.simulator.simulator.setBilling({ ...rules, charges: [...(rules.charges ?? []), charge] });
  const readAgain = () => call("POST", "/api/reconciliation/main/read", { from: nextDay, to: nextDay });
  expect((await readAgain()).status).toBe(200);
  const before = await show(nextDay);
  await putSystemValue(database.kysely, "ledger.pruned_before", String(Date.parse(nextDay) + 1));
  const line = { model: "gpt-price", class: "output" };
  expect(lineOf(before, line.model, line.class).state).toBe("different");
  const refused = await call<Refusal>("POST", `/api/reconciliation/main/${nextDay}/accept`, line);
  expect([refused.status, refused.body.error.message]).toEqual([409, expect.stringContaining("were deleted")]);
  expect((await readAgain()).status).toBe(200);
  expect(await show(nextDay)).toEqual(before);
  const explained = await call<BillDayDetail>("POST", `/api/reconciliation/main/${nextDay}/explain`, {
    ...line,
    note: "seen",
  });
  expect(lineOf(explained.body, line.model, line.class).state).toBe("explained");
  expect(explained.body.differing_usd).toBeLessThan(before.differing_usd);
});
