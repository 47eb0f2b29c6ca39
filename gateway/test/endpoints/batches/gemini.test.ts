import { afterAll, beforeAll, expect, test } from "bun:test";
import { GoogleGenAI, JobState } from "@google/genai";
import { until } from "../../../../test/until.ts";
import { aliceKey, type StartedGateway, startGateway } from "../../started-gateway.ts";

let gateway: StartedGateway;
let ai: GoogleGenAI;
beforeAll(async () => {
  gateway = await startGateway({
    models: [
      { name: "gemini-test", deployments: [{ provider: "main" }], price: { input: 1, output: 10 } },
      { name: "vectors", type: "embedding", deployments: [{ provider: "main" }], price: { input: 1 } },
    ],
  });
  ai = new GoogleGenAI({ apiKey: aliceKey, httpOptions: { baseUrl: gateway.url } });
});
afterAll(() => gateway.stop());

const ended = (name: string) =>
  until(async () => {
    const job = await ai.batches.get({ name });
    return job.state === JobState.JOB_STATE_RUNNING || job.state === JobState.JOB_STATE_PENDING ? null : job;
  });

const ask = (text: string, more: object = {}) => ({ contents: [{ role: "user", parts: [{ text }] }], ...more });

test("runs requests of the creation with any model, and returns their answers in order", async () => {
  const job = await ai.batches.create({
    model: "gemini-test",
    src: {
      inlinedRequests: [ask("one", { metadata: { key: "first" } }), ask("two"), ask("three", { model: "gemini-test" })],
    },
    config: { displayName: "my job" },
  });
  expect(job).toMatchObject({ displayName: "my job", state: JobState.JOB_STATE_RUNNING, model: "models/gemini-test" });
  const done = await ended(job.name ?? "");
  expect(done.state).toBe(JobState.JOB_STATE_SUCCEEDED);
  const responses = done.dest?.inlinedResponses ?? [];
  expect(responses.map(({ response }) => typeof response?.candidates?.[0]?.content?.parts?.[0]?.text)).toEqual(
    Array(3).fill("string"),
  );
  expect(responses[0]?.metadata).toEqual({ key: "first" });
  const entries = (await gateway.entries()).filter(
    ({ batchId }) => batchId === (job.name ?? "").replace("batches/", "batch_"),
  );
  expect(entries.map(({ customId }) => customId).sort()).toEqual(["first", "request-2", "request-3"]);
});

test("runs the rows of a file, and returns a file", async () => {
  const lines = ["a", "b"].map((key) => JSON.stringify({ key, request: ask(key) })).join("\n");
  const file = await ai.files.upload({ file: new Blob([lines], { type: "application/jsonl" }) });
  const job = await ai.batches.create({ model: "gemini-test", src: { fileName: file.name ?? "" } });
  const done = await ended(job.name ?? "");
  expect(done.dest?.fileName).toStartWith("files/");
  const name = done.dest?.fileName ?? "";
  const answer = await gateway.get(`/v1beta/${name}:download?alt=media`);
  const rows = (await answer.text())
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { key: string; response: object });
  expect(rows.map(({ key }) => key)).toEqual(["a", "b"]);
  expect(rows[0]?.response).toHaveProperty("candidates");
});

test("embeds, lists, cancels and deletes", async () => {
  const body = {
    batch: { inputConfig: { requests: { requests: [{ request: { content: { parts: [{ text: "hi" }] } } }] } } },
  };
  const made = await gateway.post("/v1beta/models/vectors:asyncBatchEmbedContent", body);
  const { name } = (await made.json()) as { name: string };
  const done = await ended(name);
  expect(done.state).toBe(JobState.JOB_STATE_SUCCEEDED);
  expect(done.dest?.inlinedEmbedContentResponses?.[0]).toHaveProperty("response");
  const names: string[] = [];
  for await (const job of await ai.batches.list({ config: { pageSize: 2 } })) names.push(job.name ?? "");
  expect(names[0]).toBe(name);
  await ai.batches.cancel({ name });
  await ai.batches.delete({ name });
  expect((await gateway.get(`/v1beta/${name}`)).status).toBe(404);
});

test("refuses bad creations, and rows for other models among the results", async () => {
  const post = (body: unknown, model = "gemini-test") =>
    gateway.post(`/v1beta/models/${model}:batchGenerateContent`, body);
  const inline = (...requests: object[]) => ({ batch: { inputConfig: { requests: { requests } } } });
  for (const body of [
    {},
    { batch: {} },
    { batch: { inputConfig: {} } },
    inline(),
    inline({ request: ask("x"), metadata: { key: "k".repeat(513) } }),
    inline({ request: ask("x"), metadata: { key: 7 } }),
    { batch: { inputConfig: { requests: { requests: {} } } } },
  ]) {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { code: 400, status: "INVALID_ARGUMENT" } });
  }
  expect((await post({ batch: { inputConfig: { fileName: "files/missing" } } })).status).toBe(404);
  expect((await post(inline({ request: ask("x", { model: "models/other" }) }))).status).toBe(400);
  expect(
    (await post(inline({ request: ask("x"), metadata: { key: "k" } }, { request: ask("x"), metadata: { key: "k" } })))
      .status,
  ).toBe(400);
  const before = await gateway.get("/v1beta/batches").then((answer) => answer.json());
  const missing = await post(inline({ request: ask("x") }), "missing");
  expect([missing.status, await missing.json()]).toMatchObject([404, { error: { status: "NOT_FOUND" } }]);
  expect(await gateway.get("/v1beta/batches").then((answer) => answer.json())).toEqual(before);
});
