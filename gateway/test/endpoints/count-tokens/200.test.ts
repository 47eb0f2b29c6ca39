import { afterAll, beforeAll, expect, test } from "bun:test";
import { type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";
import { claudeGateway, version } from "../messages/claude-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => [...(claudeGateway.providers?.(simulator) ?? []), upstream("other", simulator)],
    models: [
      ...(claudeGateway.models ?? []),
      {
        name: "claude-by-request",
        deployments: (claudeGateway.models ?? []).find(({ name }) => name === "claude-test")?.deployments ?? [],
        price: { input: 1, output: 2, request: 5 },
      },
      { name: "gpt-test", deployments: [{ provider: "other", upstream_model: "upstream-gpt" }] },
    ],
  });
});
afterAll(() => gateway.stop());

const question = { model: "claude-test", messages: [{ role: "user", content: "one two three" }] };

test("returns the upstream's count unchanged and at no cost", async () => {
  const response = await gateway.post("/v1/messages/count_tokens?beta=true", question, { headers: version });
  expect(await response.json()).toEqual({ input_tokens: 3 });
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ endpoint: "count-tokens", costNanoUsd: 0, usageSource: "none" });
});

test("charges no price per request for a count", async () => {
  const counted = await gateway.post(
    "/v1/messages/count_tokens",
    { ...question, model: "claude-by-request" },
    { headers: version },
  );
  expect(await counted.json()).toEqual({ input_tokens: 3 });
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ endpoint: "count-tokens", costNanoUsd: 0, usage: { chargedRequests: 0 } });
});

test("estimates the count, with a warning, when no upstream can count", async () => {
  const response = await gateway.post(
    "/v1/messages/count_tokens",
    { ...question, model: "gpt-test" },
    { headers: version },
  );
  expect(response.status).toBe(200);
  expect(response.headers.get("x-sluice-warnings")).toContain("estimate");
  expect(((await response.json()) as { input_tokens: number }).input_tokens).toBeGreaterThan(0);
});
