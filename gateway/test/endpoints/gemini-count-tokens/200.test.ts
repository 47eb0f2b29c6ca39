import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => [
      upstream("google", simulator, { kind: "gemini" }),
      upstream("vertex", simulator, { kind: "vertex", settings: { project: "proj" } }),
      upstream("other", simulator),
    ],
    models: [
      { name: "gem", deployments: [{ provider: "google", upstream_model: "gemini-test" }], price: { input: 1 } },
      { name: "cloud", deployments: [{ provider: "vertex", upstream_model: "gemini-test" }], price: { input: 1 } },
      { name: "gpt-test", deployments: [{ provider: "other", upstream_model: "upstream-gpt" }] },
    ],
  });
});
afterAll(() => gateway.stop());

const turn = { contents: [{ role: "user", parts: [{ text: "one two three" }] }] };
const count = (model: string, body: unknown) =>
  gateway.post(`/v1beta/models/${model}:countTokens`, body, { key: null, headers: { "x-goog-api-key": aliceKey } });
const lastUpstream = () => {
  const received = gateway.simulator.simulator.truth.list().data.at(-1);
  return { path: received?.path, body: JSON.parse(received?.body_text ?? "") };
};

test("returns the upstream's count unchanged and at no cost", async () => {
  const response = await count("gem", turn);
  expect(await response.json()).toEqual({
    totalTokens: 3,
    promptTokensDetails: [{ modality: "TEXT", tokenCount: 3 }],
  });
  expect(lastUpstream()).toEqual({ path: "/v1/models/gemini-test:countTokens", body: turn });
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ endpoint: "gemini-count-tokens", costNanoUsd: 0, usageSource: "none" });
});

test("replaces the model inside a complete request", async () => {
  const response = await count("gem", { generateContentRequest: { model: "models/gem", ...turn } });
  expect(await response.json()).toMatchObject({ totalTokens: 3 });
  expect(lastUpstream().body).toEqual({ generateContentRequest: { model: "models/gemini-test", ...turn } });
});

test("sends Google Cloud the request itself, without fields that it does not count", async () => {
  const generateContentRequest = { model: "models/cloud", ...turn, safetySettings: [] };
  const response = await count("cloud", { generateContentRequest });
  expect(await response.json()).toMatchObject({ totalTokens: 3 });
  expect(lastUpstream()).toEqual({
    path: "/v1/projects/proj/locations/global/publishers/google/models/gemini-test:countTokens",
    body: turn,
  });
});

test("estimates the count, with a warning, when no upstream can count", async () => {
  for (const body of [turn, { generateContentRequest: { model: "models/gpt-test", ...turn } }]) {
    const response = await count("gpt-test", body);
    expect(response.status).toBe(200);
    expect(response.headers.get("x-sluice-warnings")).toContain("estimate");
    expect(((await response.json()) as { totalTokens: number }).totalTokens).toBeGreaterThan(0);
  }
});
