import { expect, test } from "bun:test";
import { errorOf, startGateway } from "../../started-gateway.ts";
import { videoGateway } from "../video-tasks/video-gateway.ts";

test("returns 405 with the allowed methods", async () => {
  const gateway = await startGateway(videoGateway);
  try {
    for (const [method, path, allow] of [
      ["PUT", "/v1/assets", "POST, GET"],
      ["PATCH", "/v1/assets/as_01", "GET, DELETE"],
      ["PUT", "/v1/asset-groups", "POST, GET"],
      ["POST", "/v1/asset-groups/ag_01", "GET, DELETE"],
      ["POST", `/v1/blobs/${"0".repeat(64)}`, "GET, HEAD"],
    ] as const) {
      const answer = await fetch(`${gateway.url}${path}`, { method });
      expect([path, answer.headers.get("allow")]).toEqual([path, allow]);
      expect(await errorOf(answer)).toMatchObject({ status: 405, code: "method_not_allowed" });
    }
  } finally {
    await gateway.stop();
  }
});
