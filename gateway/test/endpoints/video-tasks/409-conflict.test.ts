import { afterAll, beforeAll, expect, test } from "bun:test";
import { until } from "../../../../test/until.ts";
import { aliceKey, errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { ask, settledTask, videoGateway } from "./video-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(videoGateway);
});
afterAll(() => gateway.stop());

const path = "/v1/video/tasks";

test("an Idempotency-Key belongs to one body, also when the other differs in a blank", async () => {
  const headers = { "idempotency-key": "scene-1" };
  expect((await gateway.post(path, ask, { headers })).status).toBe(200);
  for (const body of [{ ...ask, seed: 7 }, JSON.stringify(ask, null, 1)]) {
    expect(await errorOf(await gateway.post(path, body, { headers }))).toMatchObject({
      status: 409,
      code: "idempotency_conflict",
      param: "Idempotency-Key",
    });
  }
  expect(gateway.simulator.simulator.tasks.list().total).toBe(1);
});

test("a task that has ended is not cancelled, and stays as it is", async () => {
  const { id } = (await (await gateway.post(path, ask)).json()) as { id: string };
  const done = await settledTask(gateway, id);
  const headers = { authorization: `Bearer ${aliceKey}` };
  const answer = await fetch(`${gateway.url}${path}/${id}`, { method: "DELETE", headers });
  const told = await errorOf(answer);
  expect(told).toMatchObject({ status: 409, code: "conflict", param: "task_id" });
  expect(told.message).toContain("succeeded");
  expect(await settledTask(gateway, id)).toEqual(done);
  expect((await fetch(`${gateway.url}${path}/${id}/content`, { headers })).status).toBe(200);
});

test("a task that its vendor has finished meanwhile is not deleted there by a cancellation: it is taken as it ended", async () => {
  const { id } = (await (await gateway.post(path, ask)).json()) as { id: string };
  const made = await until(() => gateway.simulator.simulator.tasks.list().data.at(-1));
  // Longer than the vendor takes, and shorter than the first look.
  await until(() => gateway.simulator.simulator.tasks.list().data.at(-1)?.state === "succeeded");
  const headers = { authorization: `Bearer ${aliceKey}` };
  const answer = await fetch(`${gateway.url}${path}/${id}`, { method: "DELETE", headers });
  expect(await errorOf(answer)).toMatchObject({ status: 409, code: "conflict" });
  expect(await settledTask(gateway, id)).toMatchObject({ status: "succeeded" });
  const after = gateway.simulator.simulator.tasks.list().data.find((task) => task.id === made.id);
  expect(after).toMatchObject({ state: "succeeded", deleted_at: null });
});
