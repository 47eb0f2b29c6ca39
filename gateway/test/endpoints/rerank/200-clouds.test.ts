import { afterAll, beforeAll, expect, test } from "bun:test";
import type { ProviderConfig } from "@sluice/contract";
import { errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";

/** What a cloud answers is written by the test; what it is asked is kept. */
let seen: { path: string; body: string; headers: Headers }[] = [];
let answer = (): Response => new Response(null, { status: 500 });
const cloud = Bun.serve({
  idleTimeout: 0,
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    seen.push({ path: new URL(request.url).pathname, body: await request.text(), headers: request.headers });
    return answer();
  },
});
const at = (id: string, kind: string, path: string, settings: ProviderConfig["settings"] = {}): ProviderConfig => ({
  id,
  kind,
  base_url: `http://127.0.0.1:${cloud.port}${path}`,
  api_key: `key-of-${id}`,
  allow_private_network: true,
  settings,
});
const ranker = (name: string, provider: string, upstream_model: string) => ({
  name,
  type: "rerank" as const,
  deployments: [{ provider, upstream_model }],
  price: { search_unit: 2 },
});

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: () => [
      at("aws", "bedrock", "", { region: "us-east-1" }),
      at("azure", "azure-openai", "/openai/v1"),
      at("dated", "azure-openai", "/openai", { api_version: "2024-10-21" }),
    ],
    models: [
      ranker("cohere-aws", "aws", "cohere.rerank-v3-5:0"),
      ranker("amazon-aws", "aws", "arn:aws:bedrock:us-west-2::foundation-model/amazon.rerank-v1:0"),
      ranker("nova-aws", "aws", "us.amazon.nova-lite-v1:0"),
      ranker("cohere-azure", "azure", "Cohere-rerank-v4.0-pro"),
      ranker("cohere-dated", "dated", "Cohere-rerank-v4.0-pro"),
    ],
  });
});
afterAll(async () => {
  await gateway.stop();
  await cloud.stop(true);
});

const asked = { query: "q", documents: ["a", "b"], top_n: 1 };
const results = [{ index: 1, relevance_score: 0.9 }];

async function rank(model: string, more: object = {}, reply: () => Response = () => Response.json({ results })) {
  seen = [];
  answer = reply;
  return await gateway.post("/v1/rerank", { model, ...asked, ...more });
}

test("Cohere's ranker on Bedrock is invoked with its version, and paid by the documents that it was given", async () => {
  const told = await rank("cohere-aws");
  expect([told.status, await told.json()]).toEqual([200, { results }]);
  expect(seen[0]?.path).toBe("/model/cohere.rerank-v3-5%3A0/invoke");
  expect(JSON.parse(seen[0]?.body ?? "")).toEqual({ api_version: 2, ...asked });
  expect((await gateway.entries())[0]).toMatchObject({
    usage: { searchUnits: 1 },
    usageSource: "estimated",
    costNanoUsd: 2_000_000,
    upstreamDialect: "rerank",
  });
});

test("Amazon's own takes no version; what neither takes is left out and said so", async () => {
  const told = await rank("amazon-aws", { return_documents: true, user: "u" });
  expect(told.headers.get("x-sluice-warnings")).toContain("return_documents");
  expect(JSON.parse(seen[0]?.body ?? "")).toEqual(asked);
});

test("other models on Bedrock rank nothing", async () => {
  expect(await errorOf(await rank("nova-aws"))).toMatchObject({ status: 400, code: "unsupported_by_model" });
  expect(seen).toHaveLength(0);
});

test("Bedrock's refusal is told in OpenAI's words", async () => {
  const told = await rank("cohere-aws", {}, () => Response.json({ message: "too many" }, { status: 400 }));
  expect(await errorOf(told)).toMatchObject({ status: 400, message: "too many" });
});

test.each(["cohere-azure", "cohere-dated"])(
  "%s is asked at Foundry's path for Cohere, as Cohere itself is",
  async (model) => {
    const meta = { billed_units: { search_units: 3 } };
    const told = await rank(model, {}, () => Response.json({ results, meta }));
    expect(told.status).toBe(200);
    expect(seen[0]?.path).toBe("/providers/cohere/v2/rerank");
    expect(seen[0]?.headers.get("api-key")).toStartWith("key-of-");
    expect(JSON.parse(seen[0]?.body ?? "")).toEqual({ model: "Cohere-rerank-v4.0-pro", ...asked });
    expect((await gateway.entries())[0]).toMatchObject({ usage: { searchUnits: 3 }, usageSource: "upstream" });
  },
);
