import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { aliceKey, errorOf, startGateway } from "../../started-gateway.ts";

const bobKey = "sk-bob-0123456789abcdefghijkl";

test("limits the requests for usage per minute for each key", async () => {
  const gateway = await startGateway({
    keys: [
      { name: "alice", secret: aliceKey },
      { name: "bob", secret: bobKey },
    ],
  });
  try {
    const answers = [];
    for (let count = 0; count <= bounds.usageRequestsMax; count++) answers.push(await gateway.get("/v1/usage"));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(bounds.usageRequestsMax);
    const refused = answers.at(-1) ?? Response.error();
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await errorOf(refused)).toMatchObject({ status: 429, code: "rate_limit_exceeded" });
    expect((await gateway.get("/v1/usage", { authorization: `Bearer ${bobKey}` })).status).toBe(200);
  } finally {
    await gateway.stop();
  }
});
