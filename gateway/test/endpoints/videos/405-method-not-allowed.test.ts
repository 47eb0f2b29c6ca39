import { expect, test } from "bun:test";
import { errorOf, startGateway } from "../../started-gateway.ts";
import { path, videoGateway } from "./videos-gateway.ts";

test("returns 405 with the allowed methods", async () => {
  const gateway = await startGateway(videoGateway);
  try {
    for (const [method, at, allow] of [
      ["PUT", path, "POST, GET"],
      ["PATCH", `${path}/video_01`, "GET, DELETE"],
      ["POST", `${path}/video_01/content`, "GET, HEAD"],
      ["GET", `${path}/video_01/remix`, "POST"],
      ["GET", `${path}/edits`, "POST"],
      ["DELETE", `${path}/characters/char_1`, "GET"],
    ] as const) {
      const answer = await fetch(`${gateway.url}${at}`, { method });
      expect([at, answer.headers.get("allow")]).toEqual([at, allow]);
      expect(await errorOf(answer)).toMatchObject({ status: 405, code: "method_not_allowed" });
    }
  } finally {
    await gateway.stop();
  }
});
