import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { ProviderConfig } from "@sluice/contract";
import { bounds, type LedgerEntry } from "#core/index.ts";
import { until } from "../../../../test/until.ts";
import { ask, price, settled as settledAt, spentUsd } from "../../background-fixture.ts";
import { MovedClock } from "../../moved-clock.ts";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";
import { startVendor, type Vendor } from "../providers/vendor.ts";

const key = { name: "alice", secret: aliceKey, budget: { usd: 1, period: "total" as const } };
const usage = { input_tokens: 5, output_tokens: 11, total_tokens: 16 };

let clock: MovedClock;
let vendor: Vendor;
let gateway: StartedGateway | null = null;
/** How the vendor answers requests about the response: with a status or with members of the response. */
let answerFor: (method: string) => number | object;
/** The number of answers sent. */
let answersSent: number;
const queued = { id: "resp_1", object: "response", output: [], usage: null };

beforeEach(async () => {
  answerFor = () => ({ status: "queued" });
  clock = new MovedClock();
  vendor = await startVendor();
  answersSent = 0;
  vendor.answer = ({ method, target }, response) => {
    const isCreate = method === "POST" && !target.includes("resp_1");
    const answer = isCreate ? { status: "queued" } : answerFor(method);
    response.on("finish", () => answersSent++);
    response.statusCode = typeof answer === "number" ? answer : 200;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(typeof answer === "number" ? { error: { message: "no" } } : { ...queued, ...answer }));
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
  const created = await gateway.post("/v1/responses", ask);
  expect(await created.json()).toMatchObject({ id: "resp_1", status: "queued" });
  return gateway;
}

const settled = async (started: StartedGateway, stepMs?: number): Promise<LedgerEntry | undefined> =>
  (await settledAt(started, clock, 1, stepMs))[0];

/** Requests about the response, such as `GET /v1/responses/resp_1`. */
const requestsAboutResponse = (): string[] =>
  vendor.received.map(({ method, target }) => `${method} ${target}`).filter((one) => one.includes("resp_1"));

async function waitForPoll(): Promise<void> {
  await until(() => {
    clock.move(1_000);
    return requestsAboutResponse().length > 0;
  });
}

describe("at Azure", () => {
  test.each([
    ["the v1 API", {}, "/openai/v1/responses", ""],
    ["the dated API", { api_version: "2025-04-01-preview" }, "/openai/responses", "?api-version=2025-04-01-preview"],
  ])("polls, reads and cancels a response through %s that created it", async (_, settings, path, query) => {
    answerFor = () => ({ status: "in_progress" });
    const started = await create({ kind: "azure-openai", base_url: vendor.url.replace("/v1", ""), settings });
    await waitForPoll();
    const [creation, polled] = vendor.received;
    expect([creation?.target, polled?.target]).toEqual([`${path}${query}`, `${path}/resp_1${query}`]);
    expect(polled?.headers["api-key"]).toBe("sk-upstream-of-main");
    expect((await started.get("/v1/responses/resp_1/input_items?limit=2")).status).toBe(200);
    const joined = query === "" ? "?limit=2" : `${query}&limit=2`;
    expect(requestsAboutResponse()).toContain(`GET ${path}/resp_1/input_items${joined}`);
    answerFor = () => ({ status: "cancelled", usage });
    expect((await started.post("/v1/responses/resp_1/cancel", {})).status).toBe(200);
    expect(requestsAboutResponse()).toContain(`POST ${path}/resp_1/cancel${query}`);
    expect(await settled(started)).toMatchObject({
      outcome: "cancelled",
      usageSource: "upstream",
      usage: { output: 11 },
    });
  });
});

describe("at the deadline", () => {
  test("cancels it at the vendor and charges the usage that the vendor then reports", async () => {
    answerFor = (method) => (method === "POST" ? { status: "cancelled", usage } : { status: "in_progress" });
    const started = await create();
    await waitForPoll();
    expect(await started.entries()).toEqual([]);
    clock.move(bounds.taskDeadlineMs);
    expect(await settled(started)).toMatchObject({
      outcome: "cancelled",
      usageSource: "upstream",
      usage: { output: 11 },
    });
    expect(requestsAboutResponse().at(-1)).toBe("POST /v1/responses/resp_1/cancel");
    expect(vendor.last.body.toString()).toBe("{}");
    expect(await spentUsd(started)).toBeLessThan(0.001);
  });

  test("charges an estimate when the vendor reports no usage after the cancellation", async () => {
    answerFor = (method) => ({ status: method === "POST" ? "cancelled" : "in_progress" });
    const started = await create();
    await waitForPoll();
    clock.move(bounds.taskDeadlineMs);
    const entry = await settled(started);
    expect(entry).toMatchObject({ outcome: "cancelled", usageSource: "estimated", usage: { output: 7_003 } });
  });

  test("charges the reported usage when it ended before the cancellation", async () => {
    answerFor = (method) => (method === "POST" ? { status: "completed", usage } : { status: "in_progress" });
    const started = await create();
    await waitForPoll();
    clock.move(bounds.taskDeadlineMs);
    expect(await settled(started)).toMatchObject({
      outcome: "succeeded",
      usageSource: "upstream",
      usage: { output: 11 },
    });
  });

  test.each([
    ["does not cancel it", 500],
    ["continues anyway", { status: "in_progress" }],
  ])("polls ten more minutes, then charges an estimate, when the vendor %s", async (_, answer) => {
    answerFor = (method) => (method === "POST" ? answer : { status: "in_progress" });
    const started = await create();
    await waitForPoll();
    clock.move(bounds.taskDeadlineMs);
    await until(() => {
      // Moving the clock in the middle of an exchange would count against the exchange's timeout.
      if (answersSent === vendor.received.length) clock.move(1_000);
      return requestsAboutResponse().filter((one) => one.startsWith("POST")).length > 1;
    });
    const entry = await settled(started, 30_000);
    expect(entry).toMatchObject({ outcome: "failed", usageSource: "estimated", usage: { output: 7_003 } });
  });

  test("charges an estimate at once when the vendor does not find it", async () => {
    answerFor = () => ({ status: "in_progress" });
    const started = await create();
    await waitForPoll();
    answerFor = () => 404;
    clock.move(bounds.taskDeadlineMs);
    expect(await settled(started)).toMatchObject({
      outcome: "failed",
      usageSource: "estimated",
      usage: { output: 7_003 },
    });
    expect(requestsAboutResponse().filter((one) => one.startsWith("POST"))).toEqual([]);
  });
});

const failed = { status: "failed", error: { code: "server_error", message: "it broke" } };

test.each([
  ["incomplete", { status: "incomplete", incomplete_details: { reason: "max_output_tokens" }, usage }, "succeeded", 11],
  ["failed with usage", { ...failed, usage }, "failed", 11],
  ["failed without usage", failed, "failed", 0],
])("charges the reported usage when it is %s", async (_, answer, outcome, output) => {
  answerFor = () => answer;
  expect(await settled(await create())).toMatchObject({
    outcome,
    usageSource: output === 0 ? "none" : "upstream",
    usage: { output },
  });
});

test("keeps the reservation while it is queued for hours, and charges it when it is done", async () => {
  const started = await create();
  await waitForPoll();
  const before = requestsAboutResponse().length;
  clock.move(5 * 3_600_000);
  await until(() => {
    clock.move(1_000);
    return requestsAboutResponse().length > before;
  });
  expect(await started.entries()).toEqual([]);
  expect(await spentUsd(started)).toBeGreaterThan(0.07);
  answerFor = () => ({ status: "completed", usage });
  expect(await settled(started)).toMatchObject({ outcome: "succeeded", usage: { output: 11 } });
});

test("continues polling after an unknown status, and charges an estimate when it is cancelled", async () => {
  answerFor = (method) => ({ status: method === "POST" ? "cancelled" : "moderating" });
  const started = await create();
  await waitForPoll();
  expect((await started.post("/v1/responses/resp_1/cancel", {})).status).toBe(200);
  answerFor = () => ({ status: "cancelled" });
  expect(await settled(started)).toMatchObject({
    outcome: "cancelled",
    usageSource: "estimated",
    usage: { output: 7_003 },
  });
});

test("continues polling when the vendor does not find it for a moment", async () => {
  const started = await create();
  answerFor = () => 404;
  await waitForPoll();
  answerFor = () => ({ status: "completed", usage });
  expect(await settled(started)).toMatchObject({
    outcome: "succeeded",
    usageSource: "upstream",
    usage: { output: 11 },
  });
});

test("reads an answer of several megabytes and charges its usage", async () => {
  const text = "word ".repeat(1_000_000);
  const content = [{ type: "output_text", text, annotations: [] }];
  const output = [{ type: "message", id: "msg_1", role: "assistant", status: "completed", content }];
  answerFor = () => ({ status: "completed", output, usage });
  expect(await settled(await create())).toMatchObject({ usageSource: "upstream", usage: { output: 11 } });
});
