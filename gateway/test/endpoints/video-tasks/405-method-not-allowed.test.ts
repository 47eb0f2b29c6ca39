import { expect, test } from "bun:test";
import { errorOf, startGateway } from "../../started-gateway.ts";
import { videoGateway } from "./video-gateway.ts";

test("returns 405 with the allowed methods", async () => {
  const gateway = await startGateway(videoGateway);
  try {
    for (const [method, path, allow] of [
      ["PUT", "/v1/video/tasks", "POST, GET"],
      ["PATCH", "/v1/video/tasks/vt_01", "GET, DELETE"],
      ["POST", "/v1/video/tasks/vt_01/content", "GET, HEAD"],
      ["GET", "/v1/video/callbacks/vt_01/token", "POST"],
    ] as const) {
      const answer = await fetch(`${gateway.url}${path}`, { method });
      expect([path, answer.headers.get("allow")]).toEqual([path, allow]);
      expect(await errorOf(answer)).toMatchObject({ status: 405, code: "method_not_allowed" });
    }
  } finally {
    await gateway.stop();
  }
});
