import { expect, test } from "bun:test";
import { until } from "../../../../test/until.ts";
import { errorOf, startGateway, upstream } from "../../started-gateway.ts";
import { taskRequest, videoGateway } from "./video-gateway.ts";

const path = "/v1/video/tasks";

test("returns 503 when the model's account is disabled, and releases the reservation", async () => {
  const gateway = await startGateway({
    ...videoGateway,
    providers: (simulator) => [upstream("volc", simulator, { kind: "ark", enabled: false })],
  });
  try {
    expect(await errorOf(await gateway.post(path, taskRequest))).toMatchObject({
      status: 503,
      code: "no_deployment_available",
    });
    expect(gateway.simulator.simulator.truth.list().total).toBe(0);
    expect(gateway.gateway.outstanding()).toBe(0);
  } finally {
    await gateway.stop();
  }
});

test("accepts no task while draining", async () => {
  const gateway = await startGateway({ ...videoGateway, settings: { drain_timeout_ms: 60_000 } });
  const live = gateway.post("/v1/video/tasks", {
    ...taskRequest,
    prompt: `a boat [[sim ${JSON.stringify({ latency_ms: 1_000 })}]]`,
  });
  await until(() => gateway.simulator.simulator.truth.list().in_flight === 1);
  const closing = gateway.gateway.close();
  await expect(gateway.post(path, taskRequest)).rejects.toThrow();
  // A task that is already on its way to the vendor is created.
  expect((await live).status).toBe(200);
  await closing;
  await gateway.stop();
});
