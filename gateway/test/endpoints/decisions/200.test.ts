import { afterAll, beforeAll, expect, test } from "bun:test";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { aliceKey, errorOf, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";

const price = { input: 1, cache_read: 0.1 };
const input = "My parcel was late, and the box was broken.";
let gateway: StartedGateway;
let openai: OpenAI;
let google: GoogleGenAI;
beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => [
      upstream("openai", simulator, { kind: "openai" }),
      upstream("google", simulator, { kind: "gemini" }),
    ],
    models: [
      {
        ...{ name: "decider", type: "decision", price },
        deployments: [{ provider: "openai", upstream_model: "gpt-6-luna" }],
      },
      {
        ...{ name: "gem-decider", type: "decision", price },
        deployments: [{ provider: "google", upstream_model: "gemini-decision-1" }],
      },
    ],
    moreWorkspaces: [{ slug: "others", keys: [{ name: "bob", secret: "sk-bob-0123456789abcdefghij" }] }],
  });
  openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: aliceKey, maxRetries: 0 });
  google = new GoogleGenAI({ apiKey: aliceKey, httpOptions: { baseUrl: gateway.url } });
});
afterAll(() => gateway.stop());

test("answers every kind of question for OpenAI's SDK, and charges the input", async () => {
  const { answers, model, usage } = await openai.decisions.create({
    model: "decider",
    input: [{ role: "user", content: [{ type: "input_text", text: input }] }],
    questions: [
      { type: "predicate", name: "late", instructions: "The parcel was late" },
      { type: "choice", instructions: "Which part?", choices: [{ value: "box" }, { value: "label" }] },
      { type: "score", instructions: "How bad?", levels: [{ label: "fine" }, { label: "broken" }] },
      { type: "predicate", name: "no", instructions: "refuse" },
    ],
  });
  expect(answers.map(({ type, name }) => [type, name])).toEqual([
    ["predicate", "late"],
    ["choice", null],
    ["score", null],
    ["refusal", "no"],
  ]);
  expect(answers[1]).toMatchObject({ choice: "box" });
  expect(model).toBe("gpt-6-luna");
  expect((await gateway.entries())[0]).toMatchObject({
    ...{ endpoint: "decisions", model: "decider", outcome: "succeeded", usageSource: "upstream" },
    usage: { inputUncached: usage.input_tokens, output: 0 },
    costNanoUsd: usage.input_tokens * 1_000,
  });
});

test("charges cached input at its own price", async () => {
  const questions = [{ type: "predicate", instructions: "late" }];
  await gateway.post(
    "/v1/decisions",
    { model: "decider", input, questions },
    { script: { prompt_tokens: 1_000, cached_tokens: 900 } },
  );
  expect((await gateway.entries())[0]).toMatchObject({
    usage: { inputUncached: 100, cacheRead: 900 },
    costNanoUsd: 190_000,
  });
});

test.each(["v1beta", "v1"])("answers questions for Google's SDK below /%s", async (apiVersion) => {
  const answered = await google.decisions.create({
    ...{ api_version: apiVersion, model: "models/gem-decider", input },
    questions: {
      late: { type: "noul", instructions: "The parcel was late" },
      part: { type: "choice", instructions: "Which part?", criteria: { box: "The box", label: "The label" } },
    },
  });
  expect(answered.answers?.["late"]).toMatchObject({ type: "noul", noul: 0.99 });
  expect(answered.answers?.["part"]).toMatchObject({ choice: "box" });
  expect(gateway.simulator.simulator.truth.list().data.at(-1)?.model).toBe("gemini-decision-1");
  expect((await gateway.entries())[0]).toMatchObject({ endpoint: "gemini-decisions", usageSource: "upstream" });
});

test("refuses each vendor's questions in the other's format with that vendor's error", async () => {
  const list = [{ type: "predicate", instructions: "late" }];
  const answer = await gateway.post("/v1beta/decisions", { model: "gem-decider", input, questions: list });
  expect(await answer.json()).toMatchObject({ error: { code: "invalid_request" } });
  expect(answer.status).toBe(400);
  const other = await gateway.post("/v1/decisions", { model: "decider", input, questions: { late: list[0] } });
  expect(await errorOf(other)).toMatchObject({ status: 400, param: "questions" });
});

test("refuses a model without decisions, and files of other workspaces", async () => {
  const questions = [{ type: "predicate", instructions: "late" }];
  const other = await gateway.post("/v1/decisions", { model: "gem-decider", input, questions });
  expect(await errorOf(other)).toMatchObject({ status: 400, code: "unsupported_by_model" });
  const document = { type: "document", uri: "files/abc", mime_type: "application/pdf" };
  const foreign = await gateway.post("/v1beta/decisions", {
    ...{ model: "gem-decider", input: [document] },
    questions: { late: { type: "noul", instructions: "late" } },
  });
  expect(foreign.status).toBe(404);
});
