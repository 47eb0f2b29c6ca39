import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => [upstream("google", simulator, { kind: "gemini" })],
    models: [{ name: "gem", deployments: [{ provider: "google", upstream_model: "gemini-test" }] }],
  });
});
afterAll(() => gateway.stop());

const google = { "x-goog-api-key": aliceKey };
const body = { contents: [{ parts: [{ text: "hi" }] }] };

test.each([
  ["a missing model", "POST", "/v1/models/none:generateContent", 404, "NOT_FOUND"],
  ["a stream without alt=sse", "POST", "/v1/models/gem:streamGenerateContent", 400, "INVALID_ARGUMENT"],
  ["a broken escape", "POST", "/v1/models/gem%zz:generateContent", 400, "INVALID_ARGUMENT"],
  ["no model name", "POST", "/v1/models/:generateContent", 404, undefined],
  ["an unknown verb", "POST", "/v1/models/gem:tuneModel", 404, undefined],
  ["an unknown verb below /v1beta", "POST", "/v1beta/models/gem:tuneModel", 404, undefined],
  ["another method", "PUT", "/v1/models/gem:generateContent", 405, undefined],
  ["reading a missing model", "GET", "/v1/models/none", 404, "NOT_FOUND"],
  ["reading a missing model below /v1beta", "GET", "/v1beta/models/none", 404, "NOT_FOUND"],
])("answers in Google's shape for %s: %s %s", async (_title, method, path, status, name) => {
  const response = await fetch(gateway.url + path, {
    method,
    headers: { ...google, "content-type": "application/json" },
    ...(method === "GET" ? {} : { body: JSON.stringify(body) }),
  });
  expect(response.status).toBe(status);
  const refused = (await response.json()) as { error: { code: number; status: string } };
  expect(refused.error.code).toBe(status);
  if (name !== undefined) expect(refused.error.status).toBe(name);
});

test("returns 401 in the same shape without a key", async () => {
  const response = await gateway.post("/v1/models/gem:generateContent", body, { key: null });
  expect(response.status).toBe(401);
  expect(await response.json()).toMatchObject({ error: { code: 401, status: "UNAUTHENTICATED" } });
});
