import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { errorOf, startGateway } from "../../started-gateway.ts";
import { taskRequest, videoGateway } from "./video-gateway.ts";

test("rejects a body that is too large to store, and recommends a URL", async () => {
  const gateway = await startGateway(videoGateway);
  try {
    const image = `data:image/png;base64,${"A".repeat(bounds.taskRequestBytesMax)}`;
    const error = await errorOf(await gateway.post("/v1/video/tasks", { ...taskRequest, image }));
    expect(error).toMatchObject({ status: 413, code: "request_too_large" });
    expect(error.message).toContain("URL");
    expect(gateway.simulator.simulator.truth.list().total).toBe(0);
  } finally {
    await gateway.stop();
  }
});
