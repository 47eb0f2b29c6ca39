import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { errorOf, startGateway } from "../../started-gateway.ts";
import { ask, path, videoGateway } from "./videos-gateway.ts";

test("a body larger than a task takes is refused and told to give material by URL", async () => {
  const gateway = await startGateway(videoGateway);
  try {
    const image_url = `data:image/png;base64,${"A".repeat(bounds.taskRequestBytesMax)}`;
    const told = await errorOf(await gateway.post(path, { ...ask, input_reference: { image_url } }));
    expect(told).toMatchObject({ status: 413, code: "request_too_large" });
    expect(told.message).toContain("URL");
    const words = { ...ask, prompt: "w ".repeat(bounds.taskOutlineBytesMax) };
    expect((await gateway.post(path, words)).status).toBe(413);
    expect(gateway.simulator.simulator.truth.list().total).toBe(0);
  } finally {
    await gateway.stop();
  }
});
