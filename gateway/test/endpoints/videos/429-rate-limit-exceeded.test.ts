import { expect, test } from "bun:test";
import { aliceKey, errorOf, startGateway } from "../../started-gateway.ts";
import { path, videoGateway, videoRequest } from "./videos-gateway.ts";

test("admits exactly N of many concurrent calls when the limit is N calls per minute, and counts no reads", async () => {
  const gateway = await startGateway({
    ...videoGateway,
    keys: [{ name: "alice", secret: aliceKey, limits: { rpm: 3 } }],
  });
  try {
    const answers = await Promise.all(Array.from({ length: 9 }, () => gateway.post(path, videoRequest)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    const refused = answers.find(({ status }) => status === 429) ?? Response.error();
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await errorOf(refused)).toMatchObject({ code: "rate_limit_exceeded" });
    expect(gateway.simulator.simulator.tasks.list().total).toBe(3);
    expect((await gateway.get(path)).status).toBe(200);
  } finally {
    await gateway.stop();
  }
});
