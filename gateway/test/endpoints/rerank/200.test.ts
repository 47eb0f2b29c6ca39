import { afterAll, beforeAll, expect, test } from "bun:test";
import { type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => [
      upstream("jina", simulator, { kind: "jina" }),
      // The base URL belongs to Cohere's compatible API. Its own API is on the same host.
      upstream("cohere", simulator, { kind: "cohere", base_url: `${new URL(simulator.url).origin}/compatibility/v1` }),
    ],
    models: [
      rankModel("jina-rank", "jina", { input: 0.05 }),
      rankModel("cohere-rank", "cohere", { search_unit: 2 }),
      rankModel("jina-by-unit", "jina", { search_unit: 2 }),
      rankModel("by-request", "jina", { request: 1 }),
    ],
  });
});
afterAll(() => gateway.stop());

function rankModel(name: string, provider: string, price: object) {
  return { name, type: "rerank" as const, deployments: [{ provider, upstream_model: "upstream-rank" }], price };
}

const body = { query: "where do ships go", documents: ["a hill", "ships go to a harbor", "a lighthouse"], top_n: 2 };

interface RankAnswer {
  readonly results: readonly { readonly index: number; readonly relevance_score: number }[];
}

test("returns Jina's answer unchanged and charges its tokens as input", async () => {
  const answer = await gateway.post("/v1/rerank", { model: "jina-rank", ...body, return_documents: true });
  expect(answer.status).toBe(200);
  const answerBody = (await answer.json()) as RankAnswer;
  expect(answerBody.results.map(({ index }) => index)).toEqual([1, 0]);
  expect(answerBody).toMatchObject({ object: "list", usage: { total_tokens: 21 }, results: [{ document: {} }, {}] });
  expect((await gateway.entries())[0]).toMatchObject({
    endpoint: "rerank",
    usage: { inputUncached: 21 },
    usageSource: "upstream",
    costNanoUsd: 1_050,
  });
});

test("calls Cohere's own API and charges its search units by the thousand", async () => {
  const answer = await gateway.post("/v1/rerank", { model: "cohere-rank", ...body });
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({
    meta: { billed_units: { search_units: 1 } },
    results: [{ index: 1 }, {}],
  });
  const received = gateway.simulator.simulator.truth.list().data.at(-1);
  expect(received).toMatchObject({ path: "/v2/rerank", model: "upstream-rank" });
  expect((await gateway.entries())[0]).toMatchObject({
    usage: { searchUnits: 1, inputUncached: 0 },
    usageSource: "upstream",
    costNanoUsd: 2_000_000,
  });
});

test("replaces only the model in the body", async () => {
  const text = `{"query":"q","x":{"y":[1.0,"é"]},"model" : "cohere-rank","documents":["a",{"text":"b"}],"max_tokens_per_doc":512}`;
  expect((await gateway.post("/v1/rerank", text, { script: { keep_received: true } })).status).toBe(200);
  const received = gateway.simulator.simulator.truth.list().data.at(-1);
  expect(received?.received_body).toBe(text.replace('"cohere-rank"', '"upstream-rank"'));
});

test("counts one search unit per hundred documents when the upstream reports none", async () => {
  const documents = Array.from({ length: 250 }, (_, n) => `document ${n}, with "commas", [brackets] and {braces}`);
  expect((await gateway.post("/v1/rerank", { model: "jina-by-unit", query: "q", documents })).status).toBe(200);
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ usage: { searchUnits: 3 }, usageSource: "estimated", costNanoUsd: 6_000_000 });
  expect(entry?.usage.inputUncached).toBeGreaterThan(0);
});

test("counts a long document as the pieces into which Cohere splits it", async () => {
  const documents = Array.from({ length: 60 }, () => "word ".repeat(1_000));
  expect((await gateway.post("/v1/rerank", { model: "jina-by-unit", query: "q", documents })).status).toBe(200);
  // 5,000 bytes are about 1,250 tokens, which are three pieces of 500.
  expect((await gateway.entries())[0]?.usage.searchUnits).toBe(2);
});

test("estimates an answer without usage, and charges a price per request", async () => {
  const withoutUsage = { script: { no_usage: true } };
  expect((await gateway.post("/v1/rerank", { model: "jina-rank", ...body }, withoutUsage)).status).toBe(200);
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ usageSource: "estimated", usage: { searchUnits: 1 } });
  expect(entry?.costNanoUsd).toBeGreaterThan(0);
  expect((await gateway.post("/v1/rerank", { model: "by-request", ...body })).status).toBe(200);
  expect((await gateway.entries())[0]).toMatchObject({ usage: { chargedRequests: 1 }, costNanoUsd: 1_000_000 });
});

test("lists the model's type and endpoint", async () => {
  const model = await (await gateway.get("/v1/models/cohere-rank")).json();
  expect(model).toMatchObject({ type: "rerank", endpoints: ["/v1/rerank"] });
  const list = (await (await gateway.get("/v1/models?type=rerank")).json()) as { data: unknown[] };
  expect(list.data).toHaveLength(4);
});
