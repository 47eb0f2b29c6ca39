import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { errorOf, startGateway } from "../../started-gateway.ts";
import { path, videoGateway, videoRequest } from "./videos-gateway.ts";

test("rejects a body that is too large, and recommends a URL", async () => {
  const gateway = await startGateway(videoGateway);
  try {
    const image_url = `data:image/png;base64,${"A".repeat(bounds.taskRequestBytesMax)}`;
    const error = await errorOf(await gateway.post(path, { ...videoRequest, input_reference: { image_url } }));
    expect(error).toMatchObject({ status: 413, code: "request_too_large" });
    expect(error.message).toContain("URL");
    const longPrompt = { ...videoRequest, prompt: "w ".repeat(bounds.taskOutlineBytesMax) };
    expect((await gateway.post(path, longPrompt)).status).toBe(413);
    expect(gateway.simulator.simulator.truth.list().total).toBe(0);
  } finally {
    await gateway.stop();
  }
});
