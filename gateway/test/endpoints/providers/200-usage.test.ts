import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  aliceKey,
  type Overrides,
  type StartedGateway,
  scriptHeader,
  startGateway,
  upstream,
} from "../../started-gateway.ts";

const providerIds = ["gpt", "claude", "google"];
const workspace: Overrides["workspace"] = {
  pass_through: providerIds,
  groups: [{ name: "default", pass_through: providerIds }],
  keys: [{ name: "alice", secret: aliceKey, pass_through: providerIds }],
};
const models = (priced: boolean): NonNullable<Overrides["models"]> =>
  [
    { name: "our-gpt", deployments: [{ provider: "gpt", upstream_model: "gpt-x" }] },
    {
      name: "our-vectors",
      type: "embedding" as const,
      deployments: [{ provider: "gpt", upstream_model: "vectors-x" }],
    },
    { name: "our-claude", deployments: [{ provider: "claude", upstream_model: "claude-sonnet-4-5" }] },
    { name: "our-gemini", deployments: [{ provider: "google", upstream_model: "gemini-2.5-pro" }] },
  ].map((model) => (priced ? { ...model, price: { input: 1, output: 10 } } : model));

let gateway: StartedGateway;
let unpriced: StartedGateway;
beforeAll(async () => {
  const providers: Overrides["providers"] = (simulator) => [
    upstream("gpt", simulator, { kind: "openai" }),
    upstream("claude", simulator, { kind: "anthropic" }),
    upstream("google", simulator, { kind: "gemini", base_url: simulator.url.replace(/\/v1$/, "/v1beta") }),
  ];
  gateway = await startGateway({ providers, models: models(true), workspace });
  unpriced = await startGateway({ providers, models: models(false), workspace });
});
afterAll(async () => {
  await gateway.stop();
  await unpriced.stop();
});

const user = [{ role: "user", content: "Say hello to everyone" }];
const contents = [{ role: "user", parts: [{ text: "Say hello to everyone" }] }];

const calls = [
  ["chat completions", "gpt/v1/chat/completions", { model: "gpt-x", messages: user }, "our-gpt"],
  [
    "a stream of chat completions with usage",
    "gpt/chat/completions",
    { model: "gpt-x", messages: user, stream: true, stream_options: { include_usage: true } },
    "our-gpt",
  ],
  ["responses", "gpt/v1/responses", { model: "gpt-x", input: "hi" }, "our-gpt"],
  ["a stream of responses", "gpt/v1/responses", { model: "gpt-x", input: "hi", stream: true }, "our-gpt"],
  ["embeddings", "gpt/v1/embeddings", { model: "vectors-x", input: ["a", "b"] }, "our-vectors"],
  ["messages", "claude/v1/messages", { model: "claude-sonnet-4-5", max_tokens: 50, messages: user }, "our-claude"],
  [
    "a stream of messages",
    "claude/v1/messages",
    { model: "claude-sonnet-4-5", max_tokens: 50, messages: user, stream: true },
    "our-claude",
  ],
  ["generateContent", "google/v1beta/models/gemini-2.5-pro:generateContent", { contents }, "our-gemini"],
  [
    "streamGenerateContent",
    "google/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
    { contents },
    "our-gemini",
  ],
] as const;

function post(to: StartedGateway, path: string, body: object): Promise<Response> {
  const headers = { "anthropic-version": "2023-06-01", [scriptHeader]: JSON.stringify({ keep_received: true }) };
  return to.post(`/v1/providers/${path}`, body, { headers });
}

test.each(calls)("records the usage of %s and charges the deployment's price", async (_, path, body, model) => {
  const answer = await post(gateway, path, body);
  expect(answer.status).toBe(200);
  await answer.text();
  const received = gateway.simulator.simulator.truth.list().data.at(-1);
  expect(received?.received_body).toBe(JSON.stringify(body));
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ endpoint: "pass-through", model, usageSource: "upstream", outcome: "succeeded" });
  expect(entry?.usage.inputUncached).toBeGreaterThan(0);
  const cost = (entry?.usage.inputUncached ?? 0) * 1_000 + (entry?.usage.output ?? 0) * 10_000;
  expect(entry?.costNanoUsd).toBe(cost);
  expect(entry?.warnings).toBeUndefined();
  expect(answer.headers.get("x-sluice-warnings")).toBeNull();
});

test.each(calls)("records the usage of %s without a price, with a warning", async (_, path, body) => {
  const answer = await post(unpriced, path, body);
  expect(answer.headers.get("x-sluice-warnings")).toContain("unknown");
  await answer.text();
  const [entry] = await unpriced.entries();
  expect(entry).toMatchObject({ model: "(pass-through)", usageSource: "upstream", costNanoUsd: 0, priceVersion: null });
  expect(entry?.usage.inputUncached).toBeGreaterThan(0);
});

test("estimates a stream without usage", async () => {
  const answer = await post(gateway, "gpt/v1/chat/completions", { model: "gpt-x", messages: user, stream: true });
  await answer.text();
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ model: "our-gpt", usageSource: "estimated" });
  expect(entry?.costNanoUsd).toBeGreaterThan(0);
});

test("counts tokens at no cost and without a warning", async () => {
  const answer = await post(gateway, "claude/v1/messages/count_tokens", { model: "claude-sonnet-4-5", messages: user });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("x-sluice-warnings")).toBeNull();
  expect((await gateway.entries())[0]).toMatchObject({ costNanoUsd: 0, operation: "POST /messages/count_tokens" });
});

test("passes an invalid body to the vendor and returns the vendor's error", async () => {
  const answer = await gateway.post("/v1/providers/gpt/v1/chat/completions", "{ not json");
  expect(answer.status).toBe(400);
  expect(gateway.simulator.simulator.truth.list().data.at(-1)?.path).toBe("/v1/chat/completions");
});

test("passes the ledger check", async () => {
  expect((await gateway.control.ledgerStore.check()).faults).toEqual([]);
  expect((await unpriced.control.ledgerStore.check()).faults).toEqual([]);
});
