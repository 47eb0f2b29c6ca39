import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { errorOf, startHouse } from "../../started-house.ts";
import { ask, videoHouse } from "./video-house.ts";

test("a body larger than a task's row takes is refused and told to give material by URL", async () => {
  const house = await startHouse(videoHouse);
  try {
    const image = `data:image/png;base64,${"A".repeat(bounds.taskRequestBytesMax)}`;
    const told = await errorOf(await house.post("/v1/video/tasks", { ...ask, image }));
    expect(told).toMatchObject({ status: 413, code: "request_too_large" });
    expect(told.message).toContain("URL");
    expect(house.simulator.simulator.truth.list().total).toBe(0);
  } finally {
    await house.stop();
  }
});
