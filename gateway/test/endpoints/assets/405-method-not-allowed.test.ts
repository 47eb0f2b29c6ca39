import { expect, test } from "bun:test";
import { errorOf, startHouse } from "../../started-house.ts";
import { videoHouse } from "../video-tasks/video-house.ts";

test("another method is refused and told which are possible", async () => {
  const house = await startHouse(videoHouse);
  try {
    for (const [method, path, allow] of [
      ["PUT", "/v1/assets", "POST, GET"],
      ["PATCH", "/v1/assets/as_01", "GET, DELETE"],
      ["PUT", "/v1/asset-groups", "POST, GET"],
      ["POST", "/v1/asset-groups/ag_01", "GET, DELETE"],
      ["POST", `/v1/blobs/${"0".repeat(64)}`, "GET, HEAD"],
    ] as const) {
      const answer = await fetch(`${house.url}${path}`, { method });
      expect([path, answer.headers.get("allow")]).toEqual([path, allow]);
      expect(await errorOf(answer)).toMatchObject({ status: 405, code: "method_not_allowed" });
    }
  } finally {
    await house.stop();
  }
});
