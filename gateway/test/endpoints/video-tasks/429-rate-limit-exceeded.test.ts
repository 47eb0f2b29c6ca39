import { expect, test } from "bun:test";
import { aliceKey, errorOf, startGateway } from "../../started-gateway.ts";
import { taskRequest, videoGateway } from "./video-gateway.ts";

const path = "/v1/video/tasks";

test("admits exactly N of many concurrent calls when the limit is N calls per minute, and counts no reads", async () => {
  const gateway = await startGateway({
    ...videoGateway,
    keys: [{ name: "alice", secret: aliceKey, limits: { rpm: 3 } }],
  });
  try {
    const answers = await Promise.all(Array.from({ length: 9 }, () => gateway.post(path, taskRequest)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    const refused = answers.find(({ status }) => status === 429);
    expect(Number(refused?.headers.get("retry-after"))).toBeGreaterThan(0);
    const { error } = (await (refused ?? Response.error()).json()) as { error: Record<string, unknown> };
    expect(error).toMatchObject({ code: "rate_limit_exceeded", limit: 3, used: 3 });
    expect(gateway.simulator.simulator.tasks.list().total).toBe(3);
    expect((await gateway.get(path)).status).toBe(200);
  } finally {
    await gateway.stop();
  }
});

test("returns an upstream's 429 with Retry-After when no other account can create the task", async () => {
  const gateway = await startGateway(videoGateway);
  try {
    gateway.simulator.simulator.addPreset({
      script: { status: 429, retry_after: 30, error_code: "QuotaExceeded" },
      count: null,
      model: "doubao-seedance-2-0-260128",
    });
    const answer = await gateway.post(path, taskRequest);
    expect(answer.headers.get("retry-after")).toBe("30");
    expect(await errorOf(answer)).toMatchObject({ status: 429 });
    const { data } = (await (await gateway.get(path)).json()) as { data: object[] };
    expect(data).toMatchObject([{ status: "failed", cost: { amount_usd: 0 } }]);
    expect(gateway.gateway.outstanding()).toBe(0);
  } finally {
    await gateway.stop();
  }
});
