import { afterAll, beforeAll, expect, test } from "bun:test";
import { type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => [upstream("google", simulator, { kind: "gemini" })],
    models: [{ name: "gem", deployments: [{ provider: "google", upstream_model: "gemini-test" }] }],
  });
});
afterAll(() => gateway.stop());

const contents = [{ role: "user", parts: [{ text: "one" }] }];

test.each([
  ["invalid JSON", "{"],
  ["nothing to count", {}],
  ["a request that is not an object", { generateContentRequest: "hi" }],
  ["a request without contents", { generateContentRequest: { model: "models/gem" } }],
  ["both ways at once", { contents, generateContentRequest: { contents } }],
  ["both spellings at once", { generateContentRequest: { contents }, generate_content_request: { contents } }],
  ["a model named twice", `{"generateContentRequest":{"model":"models/gem","model":"models/secret","contents":[1]}}`],
  ["another spelling of the model", { generateContentRequest: { Model: "models/secret", contents } }],
])("returns 400 in Google's shape for %s, without calling an upstream", async (_title, body) => {
  const before = gateway.simulator.simulator.truth.list().total;
  const response = await gateway.post("/v1beta/models/gem:countTokens", body);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { code: 400, status: "INVALID_ARGUMENT" } });
  expect(gateway.simulator.simulator.truth.list().total).toBe(before);
});
