import { expect, test } from "bun:test";
import { aliceKey, startGateway } from "../../started-gateway.ts";
import { ask, path, videoGateway } from "./videos-gateway.ts";

/** 1280 × 720 pixels, 24 a second, five seconds, by 1,024: 108,000 tokens at 6 USD a million. */
const oneVideoUsd = 0.648;

test("both faces draw on one budget: what a video sets aside, a task cannot have", async () => {
  const gateway = await startGateway({
    ...videoGateway,
    keys: [{ name: "alice", secret: aliceKey, budget: { usd: 2 * oneVideoUsd, period: "month" } }],
  });
  try {
    const { seconds: _s, size: _z, ...task } = { ...ask, ratio: "16:9", resolution: "720p", duration: 5, audio: false };
    const prompt = 'a boat [[sim {"running_ms":3600000}]]';
    expect((await gateway.post(path, { ...ask, audio: false, prompt })).status).toBe(200);
    expect((await gateway.post("/v1/video/tasks", { ...task, prompt })).status).toBe(200);
    for (const answer of [await gateway.post(path, ask), await gateway.post("/v1/video/tasks", task)]) {
      const { error } = (await answer.json()) as { error: Record<string, unknown> };
      expect([answer.status, error]).toMatchObject([
        429,
        { code: "budget_held", limit: 2 * oneVideoUsd, used: 2 * oneVideoUsd },
      ]);
    }
    expect(gateway.simulator.simulator.tasks.list().total).toBe(2);
  } finally {
    await gateway.stop();
  }
});
