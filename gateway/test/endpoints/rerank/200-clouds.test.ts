import { afterAll, beforeAll, expect, test } from "bun:test";
import type { ProviderConfig } from "@sluice/contract";
import { errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";

/** Each test sets the cloud's answer. The requests are recorded. */
let received: { path: string; body: string; headers: Headers }[] = [];
let answer = (): Response => new Response(null, { status: 500 });
const cloud = Bun.serve({
  idleTimeout: 0,
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    received.push({ path: new URL(request.url).pathname, body: await request.text(), headers: request.headers });
    return answer();
  },
});
const account = (
  id: string,
  kind: string,
  path: string,
  settings: ProviderConfig["settings"] = {},
): ProviderConfig => ({
  id,
  kind,
  base_url: `http://127.0.0.1:${cloud.port}${path}`,
  api_key: `key-of-${id}`,
  allow_private_network: true,
  settings,
});
const rankModel = (name: string, provider: string, upstream_model: string) => ({
  name,
  type: "rerank" as const,
  deployments: [{ provider, upstream_model }],
  price: { search_unit: 2 },
});

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: () => [
      account("aws", "bedrock", "", { region: "us-east-1" }),
      account("azure", "azure-openai", "/openai/v1"),
      account("dated", "azure-openai", "/openai", { api_version: "2024-10-21" }),
    ],
    models: [
      rankModel("cohere-aws", "aws", "cohere.rerank-v3-5:0"),
      rankModel("amazon-aws", "aws", "arn:aws:bedrock:us-west-2::foundation-model/amazon.rerank-v1:0"),
      rankModel("nova-aws", "aws", "us.amazon.nova-lite-v1:0"),
      rankModel("cohere-azure", "azure", "Cohere-rerank-v4.0-pro"),
      rankModel("cohere-dated", "dated", "Cohere-rerank-v4.0-pro"),
    ],
  });
});
afterAll(async () => {
  await gateway.stop();
  await cloud.stop(true);
});

const fields = { query: "q", documents: ["a", "b"], top_n: 1 };
const results = [{ index: 1, relevance_score: 0.9 }];

async function rank(model: string, more: object = {}, reply: () => Response = () => Response.json({ results })) {
  received = [];
  answer = reply;
  return await gateway.post("/v1/rerank", { model, ...fields, ...more });
}

test("calls Cohere's model on Bedrock with its version, and charges by the number of documents", async () => {
  const ranked = await rank("cohere-aws");
  expect([ranked.status, await ranked.json()]).toEqual([200, { results }]);
  expect(received[0]?.path).toBe("/model/cohere.rerank-v3-5%3A0/invoke");
  expect(JSON.parse(received[0]?.body ?? "")).toEqual({ api_version: 2, ...fields });
  expect((await gateway.entries())[0]).toMatchObject({
    usage: { searchUnits: 1 },
    usageSource: "estimated",
    costNanoUsd: 2_000_000,
    upstreamDialect: "rerank",
  });
});

test("sends no version to Amazon's model, and drops unsupported fields with a warning", async () => {
  const ranked = await rank("amazon-aws", { return_documents: true, user: "u" });
  expect(ranked.headers.get("x-sluice-warnings")).toContain("return_documents");
  expect(JSON.parse(received[0]?.body ?? "")).toEqual(fields);
});

test("rejects other models on Bedrock", async () => {
  expect(await errorOf(await rank("nova-aws"))).toMatchObject({ status: 400, code: "unsupported_by_model" });
  expect(received).toHaveLength(0);
});

test("returns Bedrock's error in OpenAI's shape", async () => {
  const ranked = await rank("cohere-aws", {}, () => Response.json({ message: "too many" }, { status: 400 }));
  expect(await errorOf(ranked)).toMatchObject({ status: 400, message: "too many" });
});

test.each(["cohere-azure", "cohere-dated"])("calls %s at Foundry's path for Cohere", async (model) => {
  const meta = { billed_units: { search_units: 3 } };
  const ranked = await rank(model, {}, () => Response.json({ results, meta }));
  expect(ranked.status).toBe(200);
  expect(received[0]?.path).toBe("/providers/cohere/v2/rerank");
  expect(received[0]?.headers.get("api-key")).toStartWith("key-of-");
  expect(JSON.parse(received[0]?.body ?? "")).toEqual({ model: "Cohere-rerank-v4.0-pro", ...fields });
  expect((await gateway.entries())[0]).toMatchObject({ usage: { searchUnits: 3 }, usageSource: "upstream" });
});
