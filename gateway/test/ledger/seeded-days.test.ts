import { afterAll, beforeAll, expect, test } from "bun:test";
import type { BillDayDetail } from "@sluice/contract";
import type { BillCause } from "@sluice/contract/words";
import type { BillingRules } from "@sluice/simulator";
import type { LedgerEntry } from "#core/index.ts";
import { createAdjustments } from "#ledger/index.ts";
import { until } from "../../../test/until.ts";
import { type AgentFixture, startAgentFixture } from "../agents/agent-fixture.ts";
import { chatRow, clientOf, createBatch, ended } from "../endpoints/batches/batch-client.ts";
import { BatchVendor } from "../endpoints/batches/batch-vendor.ts";
import { arkAccount, settledTask, taskRequest, videoGateway } from "../endpoints/video-tasks/video-gateway.ts";
import { billedNano, focusProblems, readFocus } from "../focus-rules.ts";
import { MovedClock } from "../moved-clock.ts";
import { aliceKey, upstream } from "../started-gateway.ts";

const dayMs = 86_400_000;
const days = 5;
const adminKey = "sk-admin-of-the-days-0123456789";
const bobKey = "sk-bob-00123456789abcdefghij";
const prices = {
  "gpt-large": { input: 2.37, cache_read: 0.237, output: 9.91 },
  "gpt-small": { input: 0.113, cache_read: 0.0113, output: 0.457 },
};
/** The vendor charges more for the output of one model than the gateway, from the 4th on. */
const vendorPrices = (day: number): BillingRules["prices"] => ({
  "gpt-large": { input: 2.37, cached: 0.237, output: day < 4 ? 9.91 : 11.03 },
  "gpt-small": { input: 0.113, cached: 0.0113, output: 0.457 },
});

/** At noon of the first day of a month that has not come. */
const clock = new MovedClock();
const today = new Date(clock.now());
const firstDay = Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 1, 1);
const dateOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

const vendor = new BatchVendor();
let fixture: AgentFixture;
let token = "";
/** Random, and the same in each run. */
let seed = 20_261_130;
function below(max: number): number {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
  return Math.floor((seed / 2_147_483_648) * max);
}

async function call<Body>(method: string, path: string, sent?: unknown): Promise<{ status: number; body: Body }> {
  const answer = await request(method, path, sent);
  return { status: answer.status, body: (await answer.json()) as Body };
}

function request(method: string, path: string, sent?: unknown): Promise<Response> {
  return fetch(`http://localhost:${fixture.gateway.gateway.consolePort}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(sent === undefined ? {} : { body: JSON.stringify(sent) }),
  });
}

const owners = [
  { key: aliceKey, team: "search" },
  { key: aliceKey, team: "ads" },
  { key: bobKey, team: "" },
];

/** Calls of one day: whole and streamed, with and without a tag, refused, failed and broken. */
async function calls(): Promise<void> {
  const running: Promise<unknown>[] = [];
  for (const kind of ["whole", "stream", "messages", "failed", "cut", "unreported"] as const) {
    const { key, team } = owners[below(owners.length)] ?? { key: aliceKey, team: "" };
    const model = Object.keys(prices)[below(2)] ?? "";
    const prompt_tokens = 100 + below(5_000);
    const usage = { prompt_tokens, cached_tokens: below(prompt_tokens), tokens: 1 + below(40) };
    const headers: Record<string, string> = team === "" ? {} : { "x-sluice-tags": `team=${team}` };
    const body = { model, max_tokens: 4_000, messages: [{ role: "user", content: "one two three" }] };
    const script = {
      ...usage,
      ...(kind === "failed" ? { status: 500 } : {}),
      ...(kind === "cut" ? { cut_after_events: 3 } : {}),
      ...(kind === "unreported" ? { no_usage: true } : {}),
    };
    const path = kind === "messages" ? "/v1/messages" : "/v1/chat/completions";
    const stream = kind === "stream" || kind === "cut";
    const answer = fixture.gateway.post(path, { ...body, stream }, { key, headers, script });
    running.push(answer.then((whole) => whole.text()).catch(() => ""));
  }
  await Promise.all(running);
}

async function video(): Promise<void> {
  const prompt = `a boat [[sim ${JSON.stringify({ running_ms: 10, ends: below(3) === 0 ? "failed" : "succeeded" })}]]`;
  const answer = await fixture.gateway.post("/v1/video/tasks", { ...taskRequest, prompt });
  const { id } = (await answer.json()) as { id: string };
  await until(async () => {
    clock.move(10_000);
    return (await settledTask(fixture.gateway, id)) !== null;
  });
}

async function batch(): Promise<void> {
  const client = clientOf(fixture.gateway);
  const rows = Array.from({ length: 2 + below(5) }, (_, n) => chatRow(`row ${n}`, {}, { model: "gpt-batch" }));
  const created = vendor.batches.length;
  const { id } = await createBatch(client, rows);
  await until(() => vendor.batches.length > created);
  vendor.end();
  await until(async () => {
    clock.move(60_000);
    return (await client.batches.retrieve(id)).status === "completed";
  });
  await ended(client, id);
}

/** Reads the bill of the day from the simulated vendor, and books what an accountant books. */
async function closeDay(day: number, date: string): Promise<BillDayDetail> {
  const { simulator } = fixture.gateway.simulator;
  const charges = [
    ...(day === 3 ? [{ day: date, item: "Credit", usd: -0.123_456_789 }] : []),
    ...(day === 2 ? [{ day: date, item: "assistants api | file search", usd: 0.3 }] : []),
  ];
  const shift = clock.now() - Date.now();
  const rules: BillingRules = { adminKey, prices: vendorPrices(day), charges, shiftsMs: { "": shift } };
  simulator.setBilling(rules);
  expect((await call("POST", "/api/reconciliation/main/read", { from: date, to: date })).status).toBe(200);
  const path = `/api/reconciliation/main/${date}`;
  const { body: detail } = await call<BillDayDetail>("GET", path);
  for (const { model, class: usageClass, state, causes } of detail.lines) {
    if (state === "matched" || !causes.some(({ cause }) => cause === "wrong_price" || cause === "credit")) continue;
    const accepted = await call("POST", `${path}/accept`, { model, class: usageClass });
    expect([date, model, usageClass, accepted]).toMatchObject([date, model, usageClass, { status: 200 }]);
  }
  simulator.truth.clear();
  return (await call<BillDayDetail>("GET", path)).body;
}

let entries: readonly LedgerEntry[] = [];
const details = new Map<string, BillDayDetail>();
beforeAll(async () => {
  fixture = await startAgentFixture({
    clock,
    providers: (simulator) => [
      upstream("main", simulator, {
        billing: { kind: "openai", admin_key: adminKey, base_url: simulator.url.replace(/\/v1$/, "") },
      }),
      upstream("batches", simulator, { kind: "openai", base_url: vendor.url, settings: { batches: true } }),
      arkAccount(simulator),
    ],
    models: [
      {
        name: "gpt-batch",
        deployments: [{ provider: "batches", upstream_model: "vendor-model" }],
        price: prices["gpt-large"],
      },
      ...(videoGateway.models ?? []),
    ],
    keys: [
      { name: "alice", secret: aliceKey },
      { name: "bob", secret: bobKey },
    ],
    budgets: [
      { name: "all", usd: 1_000, period: "total" },
      { name: "videos", usd: 1_000, period: "total", match: { providers: ["volc"] } },
    ],
  });
  const made = await fixture.ada.call("POST", "/api/tokens", { name: "finance", administrator: true });
  token = made.body.secret;
  for (const [name, price] of Object.entries(prices)) {
    const model = { name, deployments: [{ provider: "main" }], price };
    expect((await call("POST", "/api/models", model)).status).toBe(201);
  }
  clock.move(firstDay + dayMs / 4 - clock.now());
  for (let day = 1; day <= days; day++) {
    const date = dateOf(clock.now());
    // A new price version.
    if (day === 5) {
      const price = { ...prices["gpt-small"], output: 0.461 };
      expect((await call("PATCH", "/api/models/gpt-small", { price })).status).toBe(200);
    }
    if (day === 2) {
      const adjustments = createAdjustments({ store: fixture.gateway.control.ledgerStore });
      const owner = { workspaceId: fixture.workspace, groupId: "", keyId: "", tags: {} };
      const fee = { id: `storage/main/vs_1/${date}`, reason: "storage", adjusts: "vs_1", provider: "main" } as const;
      await adjustments.book([{ ...fee, at: clock.now(), model: "", owner, costNanoUsd: 300_000_000 }]);
    }
    await calls();
    if (day % 4 === 2) await video();
    if (day % 4 === 3) await batch();
    await fixture.gateway.entries();
    details.set(date, await closeDay(day, date));
    clock.move(firstDay + day * dayMs + dayMs / 4 - clock.now());
  }
  clock.move(3 * dayMs);
  entries = (await fixture.gateway.entries()).filter(({ at }) => at >= firstDay);
});
afterAll(async () => {
  await fixture?.stop();
  vendor.stop();
});

const isNamed = (cause: BillCause): boolean => !["estimated", "broken_streams", "rounding"].includes(cause);
const nanoOf = (usd: number): number => Math.round(usd * 1e9);
const sumOf = (fits: (entry: LedgerEntry) => boolean): number =>
  entries.reduce((sum, entry) => sum + (fits(entry) ? entry.costNanoUsd : 0), 0);
const all = (): number => sumOf(() => true);
const month = (): string => dateOf(firstDay).slice(0, 7);

test("the days have every kind of entry", async () => {
  const kinds = new Set(entries.map(({ endpoint, outcome, adjustment }) => adjustment ?? `${endpoint} ${outcome}`));
  expect([...kinds]).toEqual(
    expect.arrayContaining(["storage", "credit", "reconciliation", "video succeeded", "chat succeeded", "chat failed"]),
  );
  expect(entries.some(({ served }) => served === "batch")).toBe(true);
  expect(entries.some(({ usageSource }) => usageSource === "estimated")).toBe(true);
  expect((await fixture.gateway.control.ledgerStore.check()).faults).toEqual([]);
});

test("usage of each key, chargeback and budgets equal the ledger to the nano-USD", async () => {
  const { keyId: alice = "" } = entries.find(({ endpoint }) => endpoint === "video") ?? {};
  const span = `from=${firstDay / 1_000}&to=${Math.floor(clock.now() / 1_000)}`;
  let byKeys = 0;
  for (const [key, fits] of [
    [aliceKey, (id: string) => id === alice],
    [bobKey, (id: string) => id !== alice && id !== ""],
  ] as const) {
    const answer = await fixture.gateway.get(`/v1/usage?${span}`, { authorization: `Bearer ${key}` });
    const { totals, ...others } = (await answer.json()) as { totals: { cost_usd: number } };
    expect([answer.status, answer.status === 200 ? "" : others]).toEqual([200, ""]);
    const own = sumOf(({ keyId }) => fits(keyId));
    expect(nanoOf(totals.cost_usd)).toBe(own);
    byKeys += own;
  }
  expect(byKeys + sumOf(({ keyId }) => keyId === "")).toBe(all());
  for (const by of ["workspace", "group", "tag&tag=team"]) {
    const path = `/api/workspaces/-/usage/chargeback?by=${by}&from=${month()}&to=${month()}`;
    const { body } = await call<{ data: { id: string; total_usd: number }[]; totals: { total_usd: number } }>(
      "GET",
      path,
    );
    expect([by, nanoOf(body.totals.total_usd)]).toEqual([by, all()]);
    expect([by, body.data.reduce((sum, { total_usd: usd }) => sum + nanoOf(usd), 0)]).toEqual([by, all()]);
    if (!by.startsWith("tag")) continue;
    const search = body.data.find(({ id }) => id === "search");
    expect(nanoOf(search?.total_usd ?? 0)).toBe(sumOf(({ tags }) => tags["team"] === "search"));
  }
  const { body } = await call<{ data: { name: string; used: number }[] }>("GET", "/api/workspaces/-/budgets");
  expect(body.data.map(({ name, used }) => [name, nanoOf(used)])).toEqual([
    ["all", all()],
    ["videos", sumOf(({ provider }) => provider === "volc")],
  ]);
});

test("FOCUS rows equal the ledger by day and provider, to the nano-USD", async () => {
  const answer = await request(
    "GET",
    `/api/exports/focus?from=${dateOf(firstDay)}&to=${dateOf(firstDay + days * dayMs)}`,
  );
  expect(answer.status).toBe(200);
  const rows = readFocus(await answer.text());
  expect(focusProblems(rows)).toEqual([]);
  expect(billedNano(rows)).toBe(BigInt(all()));
  const placeOf = (date: string, provider: string) => `${date} ${provider}`;
  const ours = Map.groupBy(entries, ({ at, provider }) => placeOf(dateOf(at), provider));
  const theirs = Map.groupBy(rows, (row) => placeOf(row.x_ChargeDate ?? "", row.x_Provider ?? ""));
  for (const [place, own] of ours) {
    const nano = own.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0);
    expect([place, Number(billedNano(theirs.get(place) ?? []))]).toEqual([place, nano]);
  }
});

test("reconciliation has the ledger's cost of each day, and only differences that are explained by name", () => {
  for (const [date, { our_usd: usd, lines }] of details) {
    const own = sumOf(({ at, provider }) => dateOf(at) === date && provider === "main");
    expect([date, nanoOf(usd)]).toEqual([date, own]);
    // Only usage that the vendor did not report, in answers without usage and in broken ones, is left.
    const open = lines.filter(
      ({ state, causes }) => state === "different" && causes.some(({ cause }) => isNamed(cause)),
    );
    expect([date, open]).toEqual([date, []]);
  }
});
