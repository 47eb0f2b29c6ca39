import { afterAll, beforeAll, expect, test } from "bun:test";
import { errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { embeddingGateway } from "./embedding-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(embeddingGateway);
});
afterAll(() => gateway.stop());

test.each([
  ["several texts", "titan", { input: ["a", "b"] }, "unsupported_by_model", "input"],
  ["several texts", "vertex-single", { input: ["a", "b"] }, "unsupported_by_model", "input"],
  ["several texts", "vertex-content", { input: ["a", "b"] }, "unsupported_by_model", "input"],
  ["more than 96 texts", "cohere", { input: Array(97).fill("a") }, "unsupported_by_model", "input"],
  ["more than 250 texts", "vertex", { input: Array(251).fill("a") }, "unsupported_by_model", "input"],
  ["tokens", "vertex", { input: [1, 2, 3] }, "unsupported_by_model", "input"],
  ["lists of tokens", "cohere", { input: [[1, 2], [3]] }, "unsupported_by_model", "input"],
  ["an input that is not text", "vertex", { input: [{ text: "a" }] }, "invalid_request", "input"],
  ["another length", "titan-1", { input: "a", dimensions: 256 }, "unsupported_by_model", "dimensions"],
  ["another length", "cohere-3", { input: "a", dimensions: 256 }, "unsupported_by_model", "dimensions"],
  ["an invalid length", "titan", { input: "a", dimensions: 0 }, "invalid_request", "dimensions"],
  ["another encoding", "titan", { input: "a", encoding_format: "hex" }, "invalid_request", "encoding_format"],
])("rejects %s for %s without calling an upstream", async (_title, model, body, code, param) => {
  const before = gateway.simulator.simulator.truth.list().total;
  const refused = await errorOf(await gateway.post("/v1/embeddings", { model: `embed/${model}`, ...body }));
  expect(refused).toMatchObject({ status: 400, code, param });
  expect(gateway.simulator.simulator.truth.list().total).toBe(before);
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ outcome: "failed", costNanoUsd: 0 });
});

test("returns another dialect's error in OpenAI's shape", async () => {
  for (const model of ["titan", "vertex", "cohere"]) {
    const body = { model: `embed/${model}`, input: `[[sim {"status":400}]] a` };
    const response = await gateway.post("/v1/embeddings", body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { type: "invalid_request_error", message: expect.any(String) },
    });
  }
});
