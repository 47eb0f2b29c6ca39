import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { GoogleGenAI, JobState } from "@google/genai";
import { until } from "../../../../test/until.ts";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";
import { rowCost } from "./batch-gateway.ts";
import { BatchVendor } from "./batch-vendor.ts";

let vendor: BatchVendor;
let gateway: StartedGateway;
let ai: GoogleGenAI;
beforeEach(async () => {
  vendor = new BatchVendor();
  const base_url = `${vendor.origin}/v1beta`;
  gateway = await startGateway({
    providers: (simulator) => [upstream("main", simulator, { kind: "gemini", base_url, settings: { batches: true } })],
    models: [
      {
        name: "gemini-test",
        deployments: [{ provider: "main", upstream_model: "vendor-gemini" }],
        price: { input: 1, output: 10 },
      },
    ],
    keys: [{ name: "alice", secret: aliceKey, budget: { usd: 1, period: "total" } }],
  });
  ai = new GoogleGenAI({ apiKey: aliceKey, httpOptions: { baseUrl: gateway.url } });
});
afterEach(async () => {
  await gateway.stop();
  vendor.stop();
});

const create = () =>
  ai.batches.create({
    model: "gemini-test",
    src: ["one", "two", "three"].map((text) => ({ contents: [{ role: "user", parts: [{ text }] }] })),
  });

const ended = (name = "") =>
  until(async () => {
    const job = await ai.batches.get({ name });
    return job.state === JobState.JOB_STATE_RUNNING ? null : job;
  });

const entriesOf = async (name = "") =>
  (await gateway.entries()).filter(({ batchId }) => batchId === name.replace("batches/", "batch_"));

describe("Gemini's batches at Google", () => {
  test("run rows from a file at half the price, and return answers in the order of the requests", async () => {
    vendor.endOf = (row) => (row === 1 ? "failed" : "answered");
    const { name } = await create();
    await until(() => vendor.batches.length === 1);
    const stem = name?.slice("batches/".length);
    expect(vendor.batches[0]).toMatchObject({
      ourId: `batch_${stem}`,
      rows: [
        { custom_id: `row-0-${stem}`, body: { contents: [{ parts: [{ text: "one" }] }], model: "vendor-gemini" } },
        {},
        {},
      ],
    });
    vendor.end();
    const { state, dest } = await ended(name);
    expect(state).toBe(JobState.JOB_STATE_SUCCEEDED);
    const answers = dest?.inlinedResponses?.map(
      ({ response, error }) => response?.candidates?.[0]?.content?.parts?.[0]?.text ?? error?.message,
    );
    expect(answers).toEqual([`row-0-${stem}`, "bad row", `row-2-${stem}`]);
    expect(dest?.inlinedResponses?.[1]?.error).toMatchObject({ code: 400, status: "INVALID_ARGUMENT" });
    const entries = await entriesOf(name);
    expect(entries.map(({ costNanoUsd, served }) => [costNanoUsd, served]).sort()).toEqual([
      [0, "batch"],
      ...Array(2).fill([rowCost / 2, "batch"]),
    ]);
    expect(gateway.gateway.outstanding()).toBe(0);
    expect(vendor.calls).toBe(0);
  });

  test("are found in Google's list when the answer to their creation is lost", async () => {
    vendor.failing = { status: 503, created: true };
    const { name } = await create();
    await until(() => vendor.batches.length === 1);
    vendor.end();
    expect((await ended(name)).state).toBe(JobState.JOB_STATE_SUCCEEDED);
    expect(vendor.batches).toHaveLength(1);
  });

  test("are free if they are canceled before a row ran", async () => {
    vendor.endOf = () => "left";
    const { name = "" } = await create();
    await until(() => vendor.batches.length === 1);
    await ai.batches.cancel({ name });
    const { state, dest } = await ended(name);
    expect(state).toBe(JobState.JOB_STATE_CANCELLED);
    expect(dest?.inlinedResponses?.map(({ error }) => error?.code)).toEqual([1, 1, 1]);
    expect(await entriesOf(name)).toEqual([]);
    expect(gateway.gateway.outstanding()).toBe(0);
  });

  test("charge the input of every row if Google ran some of them and has no results", async () => {
    vendor.endOf = (row) => (row === 1 ? "answered" : "left");
    const { name } = await create();
    await until(() => vendor.batches.length === 1);
    vendor.end("expired");
    await ended(name);
    const entries = await entriesOf(name);
    expect(entries.map(({ usageSource }) => usageSource)).toEqual(Array(3).fill("estimated"));
    for (const { costNanoUsd } of entries) expect(costNanoUsd).toBeGreaterThan(0);
    expect(gateway.gateway.outstanding()).toBe(0);
  });
});

test("of an account in the simulator answer like Google's, also for embeddings", async () => {
  await gateway.stop();
  gateway = await startGateway({
    providers: (simulator) => [upstream("main", simulator, { kind: "gemini", settings: { batches: true } })],
    models: [
      { name: "gemini-test", deployments: [{ provider: "main" }], price: { input: 1, output: 10 } },
      { name: "vectors", type: "embedding", deployments: [{ provider: "main" }], price: { input: 1 } },
    ],
  });
  ai = new GoogleGenAI({ apiKey: aliceKey, httpOptions: { baseUrl: gateway.url } });
  const texts = await create();
  const vectors = await ai.batches.createEmbeddings({
    model: "vectors",
    src: { inlinedRequests: { contents: ["hi", "there"] } },
  });
  const answered = await ended(texts.name);
  expect(answered.dest?.inlinedResponses?.map(({ response }) => response?.usageMetadata !== undefined)).toEqual(
    Array(3).fill(true),
  );
  const embedded = await ended(vectors.name);
  expect(embedded.dest?.inlinedEmbedContentResponses).toHaveLength(2);
  const entries = [...(await entriesOf(texts.name)), ...(await entriesOf(vectors.name))];
  expect(entries.map(({ usageSource, served }) => [usageSource, served])).toEqual(Array(5).fill(["upstream", "batch"]));
});
