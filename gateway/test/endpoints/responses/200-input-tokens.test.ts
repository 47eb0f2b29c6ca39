import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, errorOf, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => [upstream("openai", simulator, { kind: "openai" }), upstream("other", simulator)],
    models: ["openai", "other"].map((provider) => ({
      name: provider,
      deployments: [{ provider, upstream_model: "upstream-gpt" }],
      price: { input: 1, output: 10 },
    })),
    keys: [
      { name: "alice", secret: aliceKey },
      { name: "limited", secret: "sk-limited-0123456789abcdefghij", limits: { rpm: 1 } },
    ],
  });
});
afterAll(() => gateway.stop());

const path = "/v1/responses/input_tokens";

test("returns the upstream's count unchanged and at no cost", async () => {
  const answer = await gateway.post(path, { model: "openai", input: "one two three", tools: [], of_next_year: 1 });
  expect([answer.status, answer.headers.get("x-sluice-warnings")]).toEqual([200, null]);
  expect(await answer.json()).toEqual({ object: "response.input_tokens", input_tokens: 3 });
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ endpoint: "input-tokens", costNanoUsd: 0, usageSource: "none", outcome: "succeeded" });
});

test("estimates the count, with a warning, when no upstream can count", async () => {
  const answer = await gateway.post(path, { model: "other", input: "one two three" });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("x-sluice-warnings")).toContain("estimate");
  const { object, input_tokens } = (await answer.json()) as { object: string; input_tokens: number };
  expect([object, input_tokens > 0]).toEqual(["response.input_tokens", true]);
});

test("counts against the key's limits", async () => {
  const request = { model: "openai", input: "one" };
  const statuses: number[] = [];
  for (let time = 0; time < 2; time++) {
    statuses.push((await gateway.post(path, request, { key: "sk-limited-0123456789abcdefghij" })).status);
  }
  expect(statuses).toEqual([200, 429]);
});

test("returns the upstream's error, and rejects a request without a known model", async () => {
  const refused = await gateway.post(path, { model: "openai" }, { script: { status: 400 } });
  expect(refused.status).toBe(400);
  expect(await errorOf(await gateway.post(path, { input: "x" }))).toMatchObject({
    status: 400,
    code: "missing_required_parameter",
  });
  expect(await errorOf(await gateway.post(path, { model: "missing", input: "x" }))).toMatchObject({ status: 404 });
});
