import { afterAll, beforeAll, expect, test } from "bun:test";
import { until } from "../../../../test/until.ts";
import { aliceKey, errorOf, type StartedHouse, startHouse } from "../../started-house.ts";
import { ask, settledTask, videoHouse } from "./video-house.ts";

let house: StartedHouse;
beforeAll(async () => {
  house = await startHouse(videoHouse);
});
afterAll(() => house.stop());

const path = "/v1/video/tasks";

test("an Idempotency-Key belongs to one body, also when the other differs in a blank", async () => {
  const headers = { "idempotency-key": "scene-1" };
  expect((await house.post(path, ask, { headers })).status).toBe(200);
  for (const body of [{ ...ask, seed: 7 }, JSON.stringify(ask, null, 1)]) {
    expect(await errorOf(await house.post(path, body, { headers }))).toMatchObject({
      status: 409,
      code: "idempotency_conflict",
      param: "Idempotency-Key",
    });
  }
  expect(house.simulator.simulator.tasks.list().total).toBe(1);
});

test("a task that has ended is not cancelled, and stays as it is", async () => {
  const { id } = (await (await house.post(path, ask)).json()) as { id: string };
  const done = await settledTask(house, id);
  const headers = { authorization: `Bearer ${aliceKey}` };
  const answer = await fetch(`${house.url}${path}/${id}`, { method: "DELETE", headers });
  const told = await errorOf(answer);
  expect(told).toMatchObject({ status: 409, code: "conflict", param: "task_id" });
  expect(told.message).toContain("succeeded");
  expect(await settledTask(house, id)).toEqual(done);
  expect((await fetch(`${house.url}${path}/${id}/content`, { headers })).status).toBe(200);
});

test("a task that its vendor has finished meanwhile is not deleted there by a cancellation: it is taken as it ended", async () => {
  const { id } = (await (await house.post(path, ask)).json()) as { id: string };
  const made = await until(() => house.simulator.simulator.tasks.list().data.at(-1));
  // Longer than the vendor takes, and shorter than the first look.
  await until(() => house.simulator.simulator.tasks.list().data.at(-1)?.state === "succeeded");
  const headers = { authorization: `Bearer ${aliceKey}` };
  const answer = await fetch(`${house.url}${path}/${id}`, { method: "DELETE", headers });
  expect(await errorOf(answer)).toMatchObject({ status: 409, code: "conflict" });
  expect(await settledTask(house, id)).toMatchObject({ status: "succeeded" });
  const after = house.simulator.simulator.tasks.list().data.find((task) => task.id === made.id);
  expect(after).toMatchObject({ state: "succeeded", deleted_at: null });
});
