import { expect, test } from "bun:test";
import { errorOf, startHouse } from "../../started-house.ts";
import { ask, videoHouse } from "./video-house.ts";

test("a form is refused: a task is JSON", async () => {
  const house = await startHouse(videoHouse);
  try {
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const told = await errorOf(
      await house.post("/v1/video/tasks", new URLSearchParams(ask.prompt).toString(), { headers }),
    );
    expect(told).toMatchObject({ status: 415, code: "unsupported_media_type" });
    expect(
      (await house.post("/v1/video/tasks", ask, { headers: { "content-type": "application/json;charset=utf-8" } }))
        .status,
    ).toBe(200);
  } finally {
    await house.stop();
  }
});
