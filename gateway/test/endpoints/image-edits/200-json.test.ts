import { expect, test } from "bun:test";
import { startGateway } from "../../started-gateway.ts";
import { imageGateway } from "../images/image-gateway.ts";

test("replaces only the model in an edit with a JSON body", async () => {
  const gateway = await startGateway(imageGateway);
  try {
    const body = {
      prompt: "make it green",
      images: [{ image_url: `data:image/png;base64,${"QUJD".repeat(50_000)}` }],
      model: "paint-test",
    };
    const response = await gateway.post("/v1/images/edits", body);
    expect(response.status).toBe(200);
    const received = gateway.simulator.simulator.truth.list().data.at(-1);
    const sent = JSON.stringify({ ...body, model: "gpt-image-1" });
    expect(received?.body_sha256).toBe(new Bun.CryptoHasher("sha256").update(sent).digest("hex"));
    const [entry] = await gateway.entries();
    expect(entry).toMatchObject({ endpoint: "image-edits", outcome: "succeeded", usage: { images: 1 } });
  } finally {
    await gateway.stop();
  }
});
