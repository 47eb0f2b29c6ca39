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
      { name: "once", secret: "sk-once-0123456789abcdefghij", limits: { rpm: 1 } },
    ],
  });
});
afterAll(() => gateway.stop());

const path = "/v1/responses/input_tokens";

test("an upstream that counts is asked, costs nothing, and its answer passes as it is", async () => {
  const answer = await gateway.post(path, { model: "openai", input: "one two three", tools: [], of_next_year: 1 });
  expect([answer.status, answer.headers.get("x-sluice-warnings")]).toEqual([200, null]);
  expect(await answer.json()).toEqual({ object: "response.input_tokens", input_tokens: 3 });
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ endpoint: "input-tokens", costNanoUsd: 0, usageSource: "none", outcome: "succeeded" });
});

test("where no upstream of the model counts, the answer is an estimate that says so", async () => {
  const answer = await gateway.post(path, { model: "other", input: "one two three" });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("x-sluice-warnings")).toContain("estimate");
  const { object, input_tokens } = (await answer.json()) as { object: string; input_tokens: number };
  expect([object, input_tokens > 0]).toEqual(["response.input_tokens", true]);
});

test("it counts against the limits of its key", async () => {
  const ask = { model: "openai", input: "one" };
  const statuses: number[] = [];
  for (let time = 0; time < 2; time++) {
    statuses.push((await gateway.post(path, ask, { key: "sk-once-0123456789abcdefghij" })).status);
  }
  expect(statuses).toEqual([200, 429]);
});

test("what the upstream refuses comes back in its words; what has no model is refused here", async () => {
  const refused = await gateway.post(path, { model: "openai" }, { script: { status: 400 } });
  expect(refused.status).toBe(400);
  expect(await errorOf(await gateway.post(path, { input: "x" }))).toMatchObject({
    status: 400,
    code: "missing_required_parameter",
  });
  expect(await errorOf(await gateway.post(path, { model: "nobody", input: "x" }))).toMatchObject({ status: 404 });
});
