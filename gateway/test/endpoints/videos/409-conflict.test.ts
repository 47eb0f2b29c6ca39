import { afterAll, beforeAll, expect, test } from "bun:test";
import { errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { path, videoGateway, videoRequest } from "./videos-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(videoGateway);
});
afterAll(() => gateway.stop());

test("returns a conflict for an Idempotency-Key with another request, on both endpoints", async () => {
  const headers = { "idempotency-key": "scene-1" };
  expect((await gateway.post(path, videoRequest, { headers })).status).toBe(200);
  // Spaces in JSON do not make it another request.
  expect((await gateway.post(path, JSON.stringify(videoRequest, null, 1), { headers })).status).toBe(200);
  for (const [at, body] of [
    [path, { ...videoRequest, seconds: "10" }],
    ["/v1/video/tasks", { model: "clip-test", prompt: videoRequest.prompt, duration: 10 }],
  ] as const) {
    expect(await errorOf(await gateway.post(at, body, { headers }))).toMatchObject({
      status: 409,
      code: "idempotency_conflict",
      param: "Idempotency-Key",
    });
  }
  expect(gateway.simulator.simulator.tasks.list().total).toBe(1);
});
