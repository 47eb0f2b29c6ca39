import { afterAll, beforeAll, expect, test } from "bun:test";
import { errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { videoGateway } from "../video-tasks/video-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(videoGateway);
});
afterAll(() => gateway.stop());

test("finds a group only on its own platform", async () => {
  const created = await gateway.post("/v1/asset-groups", { platform: "local", name: "heroes" });
  const { id } = (await created.json()) as { id: string };
  for (const platform of ["volcengine", "byteplus", "s3"]) {
    expect(await errorOf(await gateway.get(`/v1/asset-groups/${id}?platform=${platform}`))).toMatchObject({
      status: 404,
      code: "asset_group_not_found",
    });
  }
});

test.each(["ag_0", "group-20260101-abcde", "as_01", "ag_%C3%A9"])(
  "returns 404 for the invalid group id %s",
  async (id) => {
    expect(await errorOf(await gateway.get(`/v1/asset-groups/${id}?platform=local`))).toMatchObject({
      status: 404,
      code: "asset_group_not_found",
    });
  },
);
