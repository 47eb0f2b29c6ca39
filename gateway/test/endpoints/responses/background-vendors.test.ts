import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { ProviderConfig } from "@sluice/contract";
import { bounds, type LedgerEntry } from "#core/index.ts";
import { until } from "../../../../test/until.ts";
import { ask, price, settled as settledAt, spentUsd } from "../../background-ground.ts";
import { MovedClock } from "../../moved-clock.ts";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";
import { startVendor, type Vendor } from "../providers/vendor.ts";

const key = { name: "alice", secret: aliceKey, budget: { usd: 1, period: "total" as const } };
const usage = { input_tokens: 5, output_tokens: 11, total_tokens: 16 };

let clock: MovedClock;
let vendor: Vendor;
let gateway: StartedGateway | null = null;
/** How the vendor answers what is asked about the response: a status, or members of the response. */
let answers: (method: string) => number | object;
/** Requests whose answers have been sent. */
let answered: number;
const shown = { id: "resp_1", object: "response", output: [], usage: null };

beforeEach(async () => {
  answers = () => ({ status: "queued" });
  clock = new MovedClock();
  vendor = await startVendor();
  answered = 0;
  vendor.answer = ({ method, target }, response) => {
    const isCreate = method === "POST" && !target.includes("resp_1");
    const answer = isCreate ? { status: "queued" } : answers(method);
    response.on("finish", () => answered++);
    response.statusCode = typeof answer === "number" ? answer : 200;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(typeof answer === "number" ? { error: { message: "no" } } : { ...shown, ...answer }));
  };
});
afterEach(async () => {
  await gateway?.stop();
  vendor.stop();
});

async function create(provider: Partial<ProviderConfig> = {}): Promise<StartedGateway> {
  gateway = await startGateway({
    clock,
    providers: (simulator) => [upstream("main", simulator, { kind: "openai", base_url: vendor.url, ...provider })],
    models: [{ name: "gpt-test", deployments: [{ provider: "main", upstream_model: "upstream-gpt" }], price }],
    keys: [key],
  });
  const made = await gateway.post("/v1/responses", ask);
  expect(await made.json()).toMatchObject({ id: "resp_1", status: "queued" });
  return gateway;
}

const settled = async (of: StartedGateway, stepMs?: number): Promise<LedgerEntry | undefined> =>
  (await settledAt(of, clock, 1, stepMs))[0];

/** What was asked about the response, as `GET /v1/responses/resp_1`. */
const asked = (): string[] =>
  vendor.received.map(({ method, target }) => `${method} ${target}`).filter((one) => one.includes("resp_1"));

async function polledOnce(): Promise<void> {
  await until(() => {
    clock.move(1_000);
    return asked().length > 0;
  });
}

describe("at Azure", () => {
  test.each([
    ["the v1 API", {}, "/openai/v1/responses", ""],
    ["the dated API", { api_version: "2025-04-01-preview" }, "/openai/responses", "?api-version=2025-04-01-preview"],
  ])("%s is polled, shown and cancelled where the response was made", async (_, settings, path, query) => {
    answers = () => ({ status: "in_progress" });
    const at = await create({ kind: "azure-openai", base_url: vendor.url.replace("/v1", ""), settings });
    await polledOnce();
    const [created, polled] = vendor.received;
    expect([created?.target, polled?.target]).toEqual([`${path}${query}`, `${path}/resp_1${query}`]);
    expect(polled?.headers["api-key"]).toBe("sk-upstream-of-main");
    expect((await at.get("/v1/responses/resp_1/input_items?limit=2")).status).toBe(200);
    const joined = query === "" ? "?limit=2" : `${query}&limit=2`;
    expect(asked()).toContain(`GET ${path}/resp_1/input_items${joined}`);
    answers = () => ({ status: "cancelled", usage });
    expect((await at.post("/v1/responses/resp_1/cancel", {})).status).toBe(200);
    expect(asked()).toContain(`POST ${path}/resp_1/cancel${query}`);
    expect(await settled(at)).toMatchObject({ outcome: "cancelled", usageSource: "upstream", usage: { output: 11 } });
  });
});

describe("at the deadline", () => {
  test("it is cancelled at its vendor and costs what the vendor then says", async () => {
    answers = (method) => (method === "POST" ? { status: "cancelled", usage } : { status: "in_progress" });
    const at = await create();
    await polledOnce();
    expect(await at.entries()).toEqual([]);
    clock.move(bounds.taskDeadlineMs);
    expect(await settled(at)).toMatchObject({ outcome: "cancelled", usageSource: "upstream", usage: { output: 11 } });
    expect(asked().at(-1)).toBe("POST /v1/responses/resp_1/cancel");
    expect(vendor.last.body.toString()).toBe("{}");
    expect(await spentUsd(at)).toBeLessThan(0.001);
  });

  test("it is charged as an estimate when its vendor reports no usage of what it cancelled", async () => {
    answers = (method) => ({ status: method === "POST" ? "cancelled" : "in_progress" });
    const at = await create();
    await polledOnce();
    clock.move(bounds.taskDeadlineMs);
    const entry = await settled(at);
    expect(entry).toMatchObject({ outcome: "cancelled", usageSource: "estimated", usage: { output: 7_003 } });
  });

  test("it costs what it used when it has ended before the cancellation reaches its vendor", async () => {
    answers = (method) => (method === "POST" ? { status: "completed", usage } : { status: "in_progress" });
    const at = await create();
    await polledOnce();
    clock.move(bounds.taskDeadlineMs);
    expect(await settled(at)).toMatchObject({ outcome: "succeeded", usageSource: "upstream", usage: { output: 11 } });
  });

  test.each([
    ["does not cancel it", 500],
    ["goes on all the same", { status: "in_progress" }],
  ])("it is asked for ten minutes more, then charged as an estimate, when its vendor %s", async (_, answer) => {
    answers = (method) => (method === "POST" ? answer : { status: "in_progress" });
    const at = await create();
    await polledOnce();
    clock.move(bounds.taskDeadlineMs);
    await until(() => {
      // A step in the middle of an exchange would count as its time-out.
      if (answered === vendor.received.length) clock.move(1_000);
      return asked().filter((one) => one.startsWith("POST")).length > 1;
    });
    const entry = await settled(at, 30_000);
    expect(entry).toMatchObject({ outcome: "failed", usageSource: "estimated", usage: { output: 7_003 } });
  });

  test("it is charged as an estimate at once when its vendor has forgotten it", async () => {
    answers = () => ({ status: "in_progress" });
    const at = await create();
    await polledOnce();
    answers = () => 404;
    clock.move(bounds.taskDeadlineMs);
    expect(await settled(at)).toMatchObject({ outcome: "failed", usageSource: "estimated", usage: { output: 7_003 } });
    expect(asked().filter((one) => one.startsWith("POST"))).toEqual([]);
  });
});

const failed = { status: "failed", error: { code: "server_error", message: "it broke" } };

test.each([
  ["incomplete", { status: "incomplete", incomplete_details: { reason: "max_output_tokens" }, usage }, "succeeded", 11],
  ["failed with usage", { ...failed, usage }, "failed", 11],
  ["failed without usage", failed, "failed", 0],
])("one that is %s costs what its upstream says", async (_, answer, outcome, output) => {
  answers = () => answer;
  expect(await settled(await create())).toMatchObject({
    outcome,
    usageSource: output === 0 ? "none" : "upstream",
    usage: { output },
  });
});

test("one that is queued for hours stays held, and is charged when it is done", async () => {
  const at = await create();
  await polledOnce();
  const before = asked().length;
  clock.move(5 * 3_600_000);
  await until(() => {
    clock.move(1_000);
    return asked().length > before;
  });
  expect(await at.entries()).toEqual([]);
  expect(await spentUsd(at)).toBeGreaterThan(0.07);
  answers = () => ({ status: "completed", usage });
  expect(await settled(at)).toMatchObject({ outcome: "succeeded", usage: { output: 11 } });
});

test("one whose vendor uses an unknown word is polled on, and may have run when it is cancelled", async () => {
  answers = (method) => ({ status: method === "POST" ? "cancelled" : "moderating" });
  const at = await create();
  await polledOnce();
  expect((await at.post("/v1/responses/resp_1/cancel", {})).status).toBe(200);
  answers = () => ({ status: "cancelled" });
  expect(await settled(at)).toMatchObject({ outcome: "cancelled", usageSource: "estimated", usage: { output: 7_003 } });
});

test("one that its vendor does not know for a moment is polled on", async () => {
  const at = await create();
  answers = () => 404;
  await polledOnce();
  answers = () => ({ status: "completed", usage });
  expect(await settled(at)).toMatchObject({ outcome: "succeeded", usageSource: "upstream", usage: { output: 11 } });
});

test("a reply of several megabytes is read and charged as its upstream counts it", async () => {
  const text = "word ".repeat(1_000_000);
  const content = [{ type: "output_text", text, annotations: [] }];
  const output = [{ type: "message", id: "msg_1", role: "assistant", status: "completed", content }];
  answers = () => ({ status: "completed", output, usage });
  expect(await settled(await create())).toMatchObject({ usageSource: "upstream", usage: { output: 11 } });
});
