import { expect, test } from "bun:test";
import { startHouse } from "../../started-house.ts";
import { imageHouse } from "../images/image-house.ts";

test("an edit with a JSON body goes upstream as it is, with only its model replaced", async () => {
  const house = await startHouse(imageHouse);
  try {
    const body = {
      prompt: "make it green",
      images: [{ image_url: `data:image/png;base64,${"QUJD".repeat(50_000)}` }],
      model: "paint-test",
    };
    const response = await house.post("/v1/images/edits", body);
    expect(response.status).toBe(200);
    const seen = house.simulator.simulator.truth.list().data.at(-1);
    const sent = JSON.stringify({ ...body, model: "gpt-image-1" });
    expect(seen?.body_sha256).toBe(new Bun.CryptoHasher("sha256").update(sent).digest("hex"));
    const [entry] = await house.entries();
    expect(entry).toMatchObject({ endpoint: "image-edits", outcome: "succeeded", usage: { images: 1 } });
  } finally {
    await house.stop();
  }
});
