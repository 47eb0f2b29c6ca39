import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";
import { waitForBudgets } from "./vendor.ts";

const secretAccessKey = "aws-secret-0123456789";
const providers = ["aws", "google-cloud"];

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => {
      const origin = new URL(simulator.url).origin;
      const { api_key: _, ...aws } = upstream("aws", simulator, {
        kind: "bedrock",
        base_url: origin,
        settings: { region: "us-east-1", access_key_id: "AKIAEXAMPLE", secret_access_key: secretAccessKey },
      });
      const settings = { project: "proj", location: "us-central1" };
      return [
        aws,
        upstream("google-cloud", simulator, { kind: "vertex", base_url: origin, api_key: "ya29.x", settings }),
      ];
    },
    models: [
      { name: "aws-claude", deployments: [{ provider: "aws", upstream_model: "anthropic.claude-sonnet-4-5-v1:0" }] },
      { name: "cloud-claude", deployments: [{ provider: "google-cloud", upstream_model: "claude-sonnet-4-5" }] },
    ].map((model) => ({ ...model, price: { input: 1, output: 10 } })),
    workspace: {
      pass_through: providers,
      groups: [{ name: "default", pass_through: providers }],
      keys: [{ name: "alice", secret: aliceKey, pass_through: providers, budget: { usd: 100, period: "month" } }],
    },
  });
  await waitForBudgets(gateway);
});
afterAll(() => gateway.stop());

const script = { aws_secret: secretAccessKey, keep_received: true };
const messages = [{ role: "user", content: "Say hello to everyone" }];
const bedrockBody = { anthropic_version: "bedrock-2023-05-31", max_tokens: 50, messages };
const lastUpstream = () => gateway.simulator.simulator.truth.list().data.at(-1);

test("signs path, repeated query and body for Bedrock, and charges Claude's usage under a budget", async () => {
  for (const query of ["", "?a=1&a=2&b=%2Fx"]) {
    const path = `/v1/providers/aws/model/anthropic.claude-sonnet-4-5-v1:0/invoke${query}`;
    const answer = await gateway.post(path, bedrockBody, { script });
    expect(await answer.json()).toMatchObject({ type: "message" });
    expect(answer.status).toBe(200);
    expect(lastUpstream()).toMatchObject({ signature_verified: true, received_body: JSON.stringify(bedrockBody) });
    const [entry] = await gateway.entries();
    expect(entry).toMatchObject({ model: "aws-claude", usageSource: "upstream", operation: "POST /model/{id}/invoke" });
    expect(entry?.costNanoUsd).toBeGreaterThan(0);
    expect(entry?.reservedNanoUsd).toBeGreaterThanOrEqual(entry?.costNanoUsd ?? 0);
  }
});

test("passes Bedrock's framing unchanged and counts its events", async () => {
  const path = "/v1/providers/aws/model/anthropic.claude-sonnet-4-5-v1:0/invoke-with-response-stream";
  const answer = await gateway.post(path, bedrockBody, { script });
  expect(answer.headers.get("content-type")).toContain("application/vnd.amazon.eventstream");
  const bytes = new Uint8Array(await answer.arrayBuffer());
  // The first four bytes are the length of the first frame.
  expect(new DataView(bytes.buffer).getUint32(0)).toBeLessThan(bytes.length);
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ model: "aws-claude", usageSource: "upstream", stream: true, outcome: "succeeded" });
  expect(entry?.costNanoUsd).toBeGreaterThan(0);
});

test("calls Claude on Vertex below project and location, with the account's token", async () => {
  const body = { anthropic_version: "vertex-2023-10-16", max_tokens: 50, messages };
  for (const verb of ["rawPredict", "streamRawPredict"]) {
    const path = `/v1/providers/google-cloud/publishers/anthropic/models/claude-sonnet-4-5:${verb}`;
    const sent = verb === "rawPredict" ? body : { ...body, stream: true };
    const answer = await gateway.post(path, sent, { script: { keep_received: true } });
    expect(answer.status).toBe(200);
    await answer.text();
    expect(lastUpstream()?.path).toBe(
      `/v1/projects/proj/locations/us-central1/publishers/anthropic/models/claude-sonnet-4-5:${verb}`,
    );
    expect(lastUpstream()?.received_body).toBe(JSON.stringify(sent));
  }
  const entries = await gateway.entries();
  expect(entries[1]).toMatchObject({ model: "cloud-claude", usageSource: "upstream" });
});
