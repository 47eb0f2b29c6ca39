import { expect, test } from "bun:test";
import { aliceKey, startGateway } from "../../started-gateway.ts";
import { path, videoGateway, videoRequest } from "./videos-gateway.ts";

/** 1280 × 720 pixels × 24 frames × 5 seconds ÷ 1,024 are 108,000 tokens, at 6 USD per million. */
const oneVideoUsd = 0.648;

test("reserves videos and tasks from the same budget", async () => {
  const gateway = await startGateway({
    ...videoGateway,
    keys: [{ name: "alice", secret: aliceKey, budget: { usd: 2 * oneVideoUsd, period: "month" } }],
  });
  try {
    const {
      seconds: _s,
      size: _z,
      ...task
    } = { ...videoRequest, ratio: "16:9", resolution: "720p", duration: 5, audio: false };
    const prompt = 'a boat [[sim {"running_ms":3600000}]]';
    expect((await gateway.post(path, { ...videoRequest, audio: false, prompt })).status).toBe(200);
    expect((await gateway.post("/v1/video/tasks", { ...task, prompt })).status).toBe(200);
    for (const answer of [await gateway.post(path, videoRequest), await gateway.post("/v1/video/tasks", task)]) {
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
