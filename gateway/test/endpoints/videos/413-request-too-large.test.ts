import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { errorOf, startHouse } from "../../started-house.ts";
import { ask, path, videoHouse } from "./videos-house.ts";

test("a body larger than a task takes is refused and told to give material by URL", async () => {
  const house = await startHouse(videoHouse);
  try {
    const image_url = `data:image/png;base64,${"A".repeat(bounds.taskRequestBytesMax)}`;
    const told = await errorOf(await house.post(path, { ...ask, input_reference: { image_url } }));
    expect(told).toMatchObject({ status: 413, code: "request_too_large" });
    expect(told.message).toContain("URL");
    const words = { ...ask, prompt: "w ".repeat(bounds.taskOutlineBytesMax) };
    expect((await house.post(path, words)).status).toBe(413);
    expect(house.simulator.simulator.truth.list().total).toBe(0);
  } finally {
    await house.stop();
  }
});
