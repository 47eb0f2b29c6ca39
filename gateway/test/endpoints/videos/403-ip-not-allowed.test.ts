import { expect, test } from "bun:test";
import { aliceKey, errorOf, startGateway } from "../../started-gateway.ts";
import { path, videoGateway, videoRequest } from "./videos-gateway.ts";

test("rejects a key that is bound to other addresses", async () => {
  const gateway = await startGateway({
    ...videoGateway,
    keys: [{ name: "alice", secret: aliceKey, allowed_ips: ["203.0.113.0/24"] }],
  });
  try {
    for (const answer of [
      await gateway.post(path, videoRequest),
      await gateway.get(path),
      await gateway.get(`${path}/video_01`),
    ]) {
      expect(await errorOf(answer)).toMatchObject({ status: 403, code: "ip_not_allowed" });
    }
  } finally {
    await gateway.stop();
  }
});
