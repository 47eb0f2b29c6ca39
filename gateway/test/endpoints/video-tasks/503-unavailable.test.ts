import { expect, test } from "bun:test";
import { until } from "../../../../test/until.ts";
import { errorOf, startHouse, upstream } from "../../started-house.ts";
import { ask, videoHouse } from "./video-house.ts";

const path = "/v1/video/tasks";

test("a model whose account is switched off makes nothing, and what was set aside is given back", async () => {
  const house = await startHouse({
    ...videoHouse,
    providers: (simulator) => [upstream("volc", simulator, { kind: "ark", enabled: false })],
  });
  try {
    expect(await errorOf(await house.post(path, ask))).toMatchObject({ status: 503, code: "no_deployment_available" });
    expect(house.simulator.simulator.truth.list().total).toBe(0);
    expect(house.house.outstanding()).toBe(0);
  } finally {
    await house.stop();
  }
});

test("while the gateway drains, no task is taken", async () => {
  const house = await startHouse({ ...videoHouse, settings: { drain_timeout_ms: 60_000 } });
  const live = house.post("/v1/video/tasks", {
    ...ask,
    prompt: `a boat [[sim ${JSON.stringify({ latency_ms: 1_000 })}]]`,
  });
  await until(() => house.simulator.simulator.truth.list().in_flight === 1);
  const closing = house.house.close();
  expect(await errorOf(await house.post(path, ask))).toMatchObject({ status: 503, code: "draining" });
  // One that is on its way to its vendor gets there, and its caller is told so.
  expect((await live).status).toBe(200);
  await closing;
  await house.stop();
});
