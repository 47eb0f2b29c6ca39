import { expect, test } from "bun:test";
import { errorOf, startGateway } from "../../started-gateway.ts";
import { taskRequest, videoGateway } from "./video-gateway.ts";

test("rejects a form", async () => {
  const gateway = await startGateway(videoGateway);
  try {
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const error = await errorOf(
      await gateway.post("/v1/video/tasks", new URLSearchParams(taskRequest.prompt).toString(), { headers }),
    );
    expect(error).toMatchObject({ status: 415, code: "unsupported_media_type" });
    expect(
      (
        await gateway.post("/v1/video/tasks", taskRequest, {
          headers: { "content-type": "application/json;charset=utf-8" },
        })
      ).status,
    ).toBe(200);
  } finally {
    await gateway.stop();
  }
});
