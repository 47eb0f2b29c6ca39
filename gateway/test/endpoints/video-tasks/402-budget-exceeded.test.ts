import { expect, test } from "bun:test";
import { aliceKey, startGateway } from "../../started-gateway.ts";
import { settledTask, taskRequest, videoGateway } from "./video-gateway.ts";

/** 1280 × 720 pixels × 24 frames × 5 seconds ÷ 1,024 are 108,000 tokens, at 6 USD per million. */
const oneTaskUsd = 0.648;
const path = "/v1/video/tasks";

test("reserves the expected cost of a task: a budget for two admits two of many concurrent calls", async () => {
  const gateway = await startGateway({
    ...videoGateway,
    keys: [{ name: "alice", secret: aliceKey, budget: { usd: 2 * oneTaskUsd, period: "month" } }],
  });
  try {
    const prompt = `a boat [[sim ${JSON.stringify({ running_ms: 400 })}]]`;
    const answers = await Promise.all(Array.from({ length: 6 }, () => gateway.post(path, { ...taskRequest, prompt })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 429, 429, 429, 429]);
    const refused = answers.find(({ status }) => status === 429);
    const { error } = (await (refused ?? Response.error()).json()) as { error: Record<string, unknown> };
    expect(error).toMatchObject({ code: "budget_held", limit: 2 * oneTaskUsd, used: 2 * oneTaskUsd });
    expect(error["scope"]).toContain("key acme/alice");
    expect(error["resets_at"]).toBeGreaterThan(Date.now() / 1_000);
    // No task was stored or sent for a refused call.
    expect(gateway.simulator.simulator.tasks.list().total).toBe(2);
    const { data } = (await (await gateway.get(path)).json()) as { data: { id: string }[] };
    expect(data).toHaveLength(2);
    for (const { id } of data) expect(await settledTask(gateway, id)).toMatchObject({ status: "succeeded" });
    expect((await gateway.post(path, taskRequest)).status).toBe(402);
    const rejected = (await gateway.entries()).filter(({ outcome }) => outcome === "rejected");
    expect(rejected).toHaveLength(5);
    expect(rejected[0]).toMatchObject({ httpStatus: 402, endpoint: "video", costNanoUsd: 0, provider: "" });
  } finally {
    await gateway.stop();
  }
});

test("releases the reservation of a task that fails", async () => {
  const gateway = await startGateway({
    ...videoGateway,
    keys: [{ name: "alice", secret: aliceKey, budget: { usd: oneTaskUsd, period: "total" } }],
  });
  try {
    const prompt = `a boat [[sim ${JSON.stringify({ running_ms: 50, ends: "failed" })}]]`;
    const { id } = (await (await gateway.post(path, { ...taskRequest, prompt })).json()) as { id: string };
    expect((await gateway.post(path, taskRequest)).status).toBe(429);
    expect(await settledTask(gateway, id)).toMatchObject({ status: "failed", cost: { amount_usd: 0 } });
    expect((await gateway.post(path, taskRequest)).status).toBe(200);
  } finally {
    await gateway.stop();
  }
});
