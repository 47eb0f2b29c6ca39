import { afterAll, beforeAll, expect, test } from "bun:test";
import { until } from "../../../../test/until.ts";
import { aliceKey, errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { settledTask, taskRequest, videoGateway } from "./video-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(videoGateway);
});
afterAll(() => gateway.stop());

const path = "/v1/video/tasks";

test("returns a conflict for an Idempotency-Key with another body, even one that differs only in spaces", async () => {
  const headers = { "idempotency-key": "scene-1" };
  expect((await gateway.post(path, taskRequest, { headers })).status).toBe(200);
  for (const body of [{ ...taskRequest, seed: 7 }, JSON.stringify(taskRequest, null, 1)]) {
    expect(await errorOf(await gateway.post(path, body, { headers }))).toMatchObject({
      status: 409,
      code: "idempotency_conflict",
      param: "Idempotency-Key",
    });
  }
  expect(gateway.simulator.simulator.tasks.list().total).toBe(1);
});

test("returns a conflict when an ended task is cancelled, and keeps its result", async () => {
  const { id } = (await (await gateway.post(path, taskRequest)).json()) as { id: string };
  const done = await settledTask(gateway, id);
  const headers = { authorization: `Bearer ${aliceKey}` };
  const answer = await fetch(`${gateway.url}${path}/${id}`, { method: "DELETE", headers });
  const error = await errorOf(answer);
  expect(error).toMatchObject({ status: 409, code: "conflict", param: "task_id" });
  expect(error.message).toContain("succeeded");
  expect(await settledTask(gateway, id)).toEqual(done);
  expect((await fetch(`${gateway.url}${path}/${id}/content`, { headers })).status).toBe(200);
});

test("keeps the result of a task that ended at the vendor before it was cancelled", async () => {
  const { id } = (await (await gateway.post(path, taskRequest)).json()) as { id: string };
  const created = await until(() => gateway.simulator.simulator.tasks.list().data.at(-1));
  // The vendor finishes before the gateway's first poll.
  await until(() => gateway.simulator.simulator.tasks.list().data.at(-1)?.state === "succeeded");
  const headers = { authorization: `Bearer ${aliceKey}` };
  const answer = await fetch(`${gateway.url}${path}/${id}`, { method: "DELETE", headers });
  expect(await errorOf(answer)).toMatchObject({ status: 409, code: "conflict" });
  expect(await settledTask(gateway, id)).toMatchObject({ status: "succeeded" });
  const after = gateway.simulator.simulator.tasks.list().data.find((task) => task.id === created.id);
  expect(after).toMatchObject({ state: "succeeded", deleted_at: null });
});
