import { afterAll, beforeAll, expect, test } from "bun:test";
import { errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { videoGateway } from "../video-tasks/video-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(videoGateway);
});
afterAll(() => gateway.stop());

test("a group is found on its own platform only, and a platform that does not exist hides it as well", async () => {
  const made = await gateway.post("/v1/asset-groups", { platform: "local", name: "heroes" });
  const { id } = (await made.json()) as { id: string };
  for (const platform of ["volcengine", "byteplus", "s3"]) {
    expect(await errorOf(await gateway.get(`/v1/asset-groups/${id}?platform=${platform}`))).toMatchObject({
      status: 404,
      code: "asset_group_not_found",
    });
  }
});

test.each(["ag_0", "group-20260101-abcde", "as_01", "ag_%C3%A9"])("%s is no group", async (id) => {
  expect(await errorOf(await gateway.get(`/v1/asset-groups/${id}?platform=local`))).toMatchObject({
    status: 404,
    code: "asset_group_not_found",
  });
});
