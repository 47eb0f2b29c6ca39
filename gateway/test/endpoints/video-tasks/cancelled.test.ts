import { afterAll, beforeAll, expect, test } from "bun:test";
import { until } from "../../../../test/until.ts";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";
import { taskRequest } from "./video-gateway.ts";

const path = "/v1/video/tasks";
const model = "gen4.5";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => [
      upstream("runway", simulator, { kind: "runway", base_url: new URL(simulator.url).origin }),
    ],
    models: [
      {
        name: "clip-test",
        type: "video",
        deployments: [{ provider: "runway", upstream_model: model }],
        price: { video: 0.1 },
      },
    ],
  });
});
afterAll(() => gateway.stop());

const vendorTask = () => gateway.simulator.simulator.tasks.list().data.at(-1);

test.each([
  ["while it runs is charged an estimate, because the vendor bills it", "running", 0.5],
  ["while it is queued costs nothing", "queued", 0],
] as const)("a task that is cancelled %s", async (_, state, costUsd) => {
  const times = state === "running" ? { queued_ms: 0 } : { queued_ms: 3_600_000 };
  gateway.simulator.simulator.addPreset({
    script: { ...times, running_ms: 3_600_000, bills_cancelled: true },
    count: 1,
    model,
  });
  const { audio: _audio, watermark: _watermark, seed: _seed, ...request } = taskRequest;
  const { id } = (await (await gateway.post(path, request)).json()) as { id: string };
  await until(() => vendorTask()?.state === state);
  const headers = { authorization: `Bearer ${aliceKey}` };
  const answer = await fetch(`${gateway.url}${path}/${id}`, { method: "DELETE", headers });
  expect([answer.status, await answer.json()]).toMatchObject([
    200,
    { status: "cancelled", cost: { amount_usd: costUsd, estimated: costUsd > 0 } },
  ]);
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({
    outcome: "cancelled",
    usageSource: costUsd > 0 ? "estimated" : "none",
    costNanoUsd: costUsd * 1e9,
  });
  // Work that the vendor bills is never recorded as free.
  expect((vendorTask()?.tokens ?? 0) > 0).toBe(costUsd > 0);
  expect(gateway.gateway.outstanding()).toBe(0);
});
