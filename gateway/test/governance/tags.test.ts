import { expect, test } from "bun:test";
import { aliceKey, hello, startGateway } from "../started-gateway.ts";

test("a caller adds tags to the key's tags and cannot replace them", async () => {
  const gateway = await startGateway({
    keys: [{ name: "alice", secret: aliceKey, tags: { team: "search", cost_centre: "42" } }],
  });
  try {
    const headers = { "x-sluice-tags": "team=other,feature=ask" };
    await (await gateway.chat(hello, { script: { tokens: 1 }, headers })).text();
    const [entry] = await gateway.entries();
    expect(entry?.tags).toEqual({ team: "search", cost_centre: "42", feature: "ask" });
  } finally {
    await gateway.stop();
  }
});
