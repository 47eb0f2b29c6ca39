import { afterAll, beforeAll, expect, test } from "bun:test";
import { errorOf, type StartedHouse, startHouse } from "../../started-house.ts";
import { videoHouse } from "../video-tasks/video-house.ts";

let house: StartedHouse;
beforeAll(async () => {
  house = await startHouse(videoHouse);
});
afterAll(() => house.stop());

test("a group is found on its own platform only, and a platform that does not exist hides it as well", async () => {
  const made = await house.post("/v1/asset-groups", { platform: "local", name: "heroes" });
  const { id } = (await made.json()) as { id: string };
  for (const platform of ["volcengine", "byteplus", "s3"]) {
    expect(await errorOf(await house.get(`/v1/asset-groups/${id}?platform=${platform}`))).toMatchObject({
      status: 404,
      code: "asset_group_not_found",
    });
  }
});

test.each(["ag_0", "group-20260101-abcde", "as_01", "ag_%C3%A9"])("%s is no group", async (id) => {
  expect(await errorOf(await house.get(`/v1/asset-groups/${id}?platform=local`))).toMatchObject({
    status: 404,
    code: "asset_group_not_found",
  });
});
