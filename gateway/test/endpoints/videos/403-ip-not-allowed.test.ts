import { expect, test } from "bun:test";
import { aliceKey, errorOf, startHouse } from "../../started-house.ts";
import { ask, path, videoHouse } from "./videos-house.ts";

test("a key bound to other addresses neither makes nor sees videos", async () => {
  const house = await startHouse({
    ...videoHouse,
    keys: [{ name: "alice", secret: aliceKey, allowed_ips: ["203.0.113.0/24"] }],
  });
  try {
    for (const answer of [await house.post(path, ask), await house.get(path), await house.get(`${path}/video_01`)]) {
      expect(await errorOf(answer)).toMatchObject({ status: 403, code: "ip_not_allowed" });
    }
  } finally {
    await house.stop();
  }
});
