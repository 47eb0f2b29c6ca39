import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { errorOf, startGateway } from "../../started-gateway.ts";
import { ask, videoGateway } from "./video-gateway.ts";

test("a body larger than a task's row takes is refused and told to give material by URL", async () => {
  const gateway = await startGateway(videoGateway);
  try {
    const image = `data:image/png;base64,${"A".repeat(bounds.taskRequestBytesMax)}`;
    const told = await errorOf(await gateway.post("/v1/video/tasks", { ...ask, image }));
    expect(told).toMatchObject({ status: 413, code: "request_too_large" });
    expect(told.message).toContain("URL");
    expect(gateway.simulator.simulator.truth.list().total).toBe(0);
  } finally {
    await gateway.stop();
  }
});
