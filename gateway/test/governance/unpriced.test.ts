import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { aliceKey, errorOf, hello, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => [upstream("main", simulator), upstream("show", simulator, { kind: "demo" })],
    models: [
      { name: "priced", deployments: [{ provider: "main" }], price: { input: 1, output: 10 } },
      { name: "unpriced", deployments: [{ provider: "main" }] },
      { name: "unpriced-saved", deployments: [{ provider: "main" }], fallbacks: ["priced"] },
      { name: "leaning", deployments: [{ provider: "main" }], price: { input: 1 }, fallbacks: ["unpriced"] },
      { name: "free", deployments: [{ provider: "main" }], unpriced: "allow" },
      { name: "at-zero", deployments: [{ provider: "main" }], price: {} },
      { name: "shown", deployments: [{ provider: "show" }] },
      { name: "half-shown", deployments: [{ provider: "show" }, { provider: "main" }] },
      { name: "film", type: "video", deployments: [{ provider: "main" }] },
      { name: "vectors", type: "embedding", deployments: [{ provider: "main" }] },
      { name: "paint", type: "image", deployments: [{ provider: "main" }] },
    ],
    settings: { unpriced: "block" },
  });
});
afterAll(() => gateway.stop());

const messages = hello.messages;
const refused = { status: 403, code: "model_not_priced", param: "model" };

describe("a model without a price and without permission to be free", () => {
  test.each([
    ["/v1/chat/completions", { model: "unpriced", messages }],
    ["/v1/chat/completions", { model: "unpriced", messages, stream: true }],
    ["/v1/chat/completions", { model: "half-shown", messages }],
    ["/v1/responses", { model: "unpriced", input: "hello" }],
    ["/v1/embeddings", { model: "vectors", input: "hello" }],
    ["/v1/images/generations", { model: "paint", prompt: "hello" }],
    ["/v1/video/tasks", { model: "film", prompt: "hello", duration: 5 }],
  ])("is refused at %s", async (path, body) => {
    const before = gateway.simulator.simulator.truth.list().data.length;
    const answer = await gateway.post(path, body);
    expect(await errorOf(answer)).toMatchObject({ ...refused, message: expect.stringContaining("has no price") });
    expect(gateway.simulator.simulator.truth.list().data.length).toBe(before);
  });

  test("is refused in the error formats of Anthropic and Google", async () => {
    const anthropic = await gateway.post(
      "/v1/messages",
      { model: "unpriced", max_tokens: 5, messages },
      { headers: { "anthropic-version": "2023-06-01" } },
    );
    expect([anthropic.status, await anthropic.json()]).toMatchObject([
      403,
      { type: "error", error: { type: "permission_error", message: expect.stringContaining("has no price") } },
    ]);
    const contents = [{ role: "user", parts: [{ text: "hello" }] }];
    const google = await gateway.post("/v1beta/models/unpriced:generateContent", { contents });
    expect([google.status, await google.json()]).toMatchObject([
      403,
      { error: { code: 403, status: "PERMISSION_DENIED", message: expect.stringContaining("has no price") } },
    ]);
  });

  test("is refused even with a fallback, and is no fallback for others", async () => {
    expect(await errorOf(await gateway.chat({ ...hello, model: "unpriced-saved" }))).toMatchObject(refused);
    const script = { status: 500 };
    const failed = await gateway.chat({ ...hello, model: "leaning" }, { script });
    expect(failed.status).toBeGreaterThanOrEqual(500);
    const tried = (await gateway.entries()).filter(({ model }) => model === "unpriced");
    expect(tried.filter(({ outcome }) => outcome !== "rejected")).toEqual([]);
  });

  test("is not listed, and a direct request explains why", async () => {
    const { data } = (await (await gateway.get("/v1/models")).json()) as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).toEqual(["at-zero", "free", "leaning", "priced", "shown"]);
    expect(await errorOf(await gateway.get("/v1/models/unpriced"))).toMatchObject(refused);
    expect(await errorOf(await gateway.get("/v1/models/nowhere"))).toMatchObject({ code: "model_not_found" });
  });

  test("leaves a refused call in the ledger", async () => {
    await gateway.chat({ ...hello, model: "unpriced" });
    const entry = (await gateway.entries()).find(({ errorCode }) => errorCode === "model_not_priced");
    expect(entry).toMatchObject({ outcome: "rejected", httpStatus: 403, costNanoUsd: 0 });
  });
});

test.each(["free", "at-zero", "shown", "priced"])("serves the model %s", async (model) => {
  expect((await gateway.chat({ ...hello, model })).status).toBe(200);
});

test("a model that is not granted returns 404, priced or not", async () => {
  await using other = await startedWith({ unpriced: "block" }, { models: ["priced"] });
  expect(await errorOf(await other.gateway.chat({ ...hello, model: "unpriced" }))).toMatchObject({
    status: 404,
    code: "model_not_found",
  });
});

test("with block_in_budgets, serves it free only to callers without a budget", async () => {
  await using other = await startedWith({ unpriced: "block_in_budgets" });
  const chat = (model: string, key?: string) =>
    other.gateway.chat({ ...hello, model }, key === undefined ? {} : { key });
  expect((await chat("unpriced")).status).toBe(200);
  expect(await errorOf(await chat("unpriced", poorKey))).toMatchObject(refused);
  expect(await errorOf(await chat("refuses"))).toMatchObject(refused);
  const listed = async (key: string) => {
    const answer = await other.gateway.get("/v1/models", { authorization: `Bearer ${key}` });
    const { data } = (await answer.json()) as { data: { id: string }[] };
    return data.map(({ id }) => id);
  };
  expect(await listed(aliceKey)).toEqual(["paint", "priced", "unpriced"]);
  expect(await listed(poorKey)).toEqual(["priced"]);
});

test.each(["workspace", "group"])("a budget of the %s blocks it as well", async (scope) => {
  const budget = { usd: 5, period: "month" } as const;
  const workspace = scope === "workspace" ? { budget } : { groups: [{ name: "default", models: ["*"], budget }] };
  await using other = await startedWith({ unpriced: "block_in_budgets" }, workspace);
  expect(await errorOf(await other.gateway.chat({ ...hello, model: "unpriced" }))).toMatchObject(refused);
});

test("charges the price of a named model and holds it against the budget", async () => {
  await using other = await startedWith({ unpriced: { price_as: "priced" } });
  const answer = await other.gateway.chat({ ...hello, model: "unpriced" });
  expect(answer.status).toBe(200);
  await answer.json();
  expect(await errorOf(await other.gateway.chat({ ...hello, model: "refuses" }))).toMatchObject(refused);
  const paint = await other.gateway.post("/v1/images/generations", { model: "paint", prompt: "x" });
  expect(await errorOf(paint)).toMatchObject(refused);
  const same = await other.gateway.chat({ ...hello, model: "priced" });
  await same.json();
  const entries = await other.gateway.entries();
  const costOf = (name: string) => entries.find(({ model, outcome }) => model === name && outcome === "succeeded");
  expect(costOf("unpriced")?.costNanoUsd).toBeGreaterThan(0);
  expect(costOf("unpriced")?.costNanoUsd).toBe(costOf("priced")?.costNanoUsd as never);
  expect(costOf("unpriced")?.priceVersion).toBe(costOf("priced")?.priceVersion as never);
  expect(await errorOf(await other.gateway.chat({ ...hello, model: "unpriced" }, { key: poorKey }))).toMatchObject({
    code: "budget_exceeded",
  });
});

test("rejects the call when the named model is missing or has no price itself", async () => {
  for (const name of ["nowhere", "unpriced"]) {
    await using other = await startedWith({ unpriced: { price_as: name } });
    expect(await errorOf(await other.gateway.chat({ ...hello, model: "unpriced" }))).toMatchObject(refused);
  }
});

const poorKey = "sk-poor-0123456789abcdefghij";

async function startedWith(
  settings: NonNullable<Parameters<typeof startGateway>[0]>["settings"],
  workspace: NonNullable<Parameters<typeof startGateway>[0]>["workspace"] = {},
) {
  const started = await startGateway({
    models: [
      { name: "priced", deployments: [{ provider: "main" }], price: { input: 1, output: 10 } },
      { name: "unpriced", deployments: [{ provider: "main" }] },
      { name: "refuses", deployments: [{ provider: "main" }], unpriced: "block" },
      { name: "paint", type: "image", deployments: [{ provider: "main" }] },
    ],
    keys: [
      { name: "alice", secret: aliceKey },
      { name: "poor", secret: poorKey, budget: { usd: 0, period: "day" } },
    ],
    workspace,
    settings,
  });
  return { gateway: started, [Symbol.asyncDispose]: () => started.stop() };
}
