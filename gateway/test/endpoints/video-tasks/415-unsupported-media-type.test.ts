import { expect, test } from "bun:test";
import { errorOf, startGateway } from "../../started-gateway.ts";
import { ask, videoGateway } from "./video-gateway.ts";

test("a form is refused: a task is JSON", async () => {
  const gateway = await startGateway(videoGateway);
  try {
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const told = await errorOf(
      await gateway.post("/v1/video/tasks", new URLSearchParams(ask.prompt).toString(), { headers }),
    );
    expect(told).toMatchObject({ status: 415, code: "unsupported_media_type" });
    expect(
      (await gateway.post("/v1/video/tasks", ask, { headers: { "content-type": "application/json;charset=utf-8" } }))
        .status,
    ).toBe(200);
  } finally {
    await gateway.stop();
  }
});
