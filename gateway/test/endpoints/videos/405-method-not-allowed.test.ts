import { expect, test } from "bun:test";
import { errorOf, startHouse } from "../../started-house.ts";
import { path, videoHouse } from "./videos-house.ts";

test("another method is refused and told which are possible", async () => {
  const house = await startHouse(videoHouse);
  try {
    for (const [method, at, allow] of [
      ["PUT", path, "POST, GET"],
      ["PATCH", `${path}/video_01`, "GET, DELETE"],
      ["POST", `${path}/video_01/content`, "GET, HEAD"],
      ["GET", `${path}/video_01/remix`, "POST"],
      ["GET", `${path}/edits`, "POST"],
      ["DELETE", `${path}/characters/char_1`, "GET"],
    ] as const) {
      const answer = await fetch(`${house.url}${at}`, { method });
      expect([at, answer.headers.get("allow")]).toEqual([at, allow]);
      expect(await errorOf(answer)).toMatchObject({ status: 405, code: "method_not_allowed" });
    }
  } finally {
    await house.stop();
  }
});
