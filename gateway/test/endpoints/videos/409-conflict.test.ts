import { afterAll, beforeAll, expect, test } from "bun:test";
import { errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { ask, path, videoGateway } from "./videos-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(videoGateway);
});
afterAll(() => gateway.stop());

test("an Idempotency-Key belongs to one request, at both faces together", async () => {
  const headers = { "idempotency-key": "scene-1" };
  expect((await gateway.post(path, ask, { headers })).status).toBe(200);
  // What is read as the same is the same: a blank says nothing.
  expect((await gateway.post(path, JSON.stringify(ask, null, 1), { headers })).status).toBe(200);
  for (const [at, body] of [
    [path, { ...ask, seconds: "10" }],
    ["/v1/video/tasks", { model: "clip-test", prompt: ask.prompt, duration: 10 }],
  ] as const) {
    expect(await errorOf(await gateway.post(at, body, { headers }))).toMatchObject({
      status: 409,
      code: "idempotency_conflict",
      param: "Idempotency-Key",
    });
  }
  expect(gateway.simulator.simulator.tasks.list().total).toBe(1);
});
