import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { videoGateway } from "../video-tasks/video-gateway.ts";
import { png, uploadForm } from "./upload-form.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(videoGateway);
});
afterAll(() => gateway.stop());

test.each(["as_", "as_0", "asset-20260101-abcde", "ag_01", "as_..", `as_${"0".repeat(65)}`])(
  "returns 404 for the invalid asset id %s",
  async (id) => {
    expect(await errorOf(await gateway.get(`/v1/assets/${id}?platform=local`))).toMatchObject({
      status: 404,
      code: "asset_not_found",
    });
  },
);

test("names the platform parameter when the platform does not exist", async () => {
  const group = { platform: "Local", name: "heroes" };
  for (const answer of [
    await gateway.post("/v1/asset-groups", group),
    await gateway.get("/v1/assets?platform=Local"),
  ]) {
    const error = await errorOf(answer);
    expect(error).toMatchObject({ status: 404, code: "not_found", param: "platform" });
    expect(error.message).toContain("local, volcengine, byteplus");
  }
});

test("returns 404 when the group belongs to another platform", async () => {
  const created = await gateway.post("/v1/asset-groups", { platform: "local", name: "heroes" });
  const { id } = (await created.json()) as { id: string };
  const asset = { platform: "volcengine", group_id: id, url: "https://pictures.example/a.png", asset_type: "Image" };
  const error = await errorOf(await gateway.post("/v1/assets", { ...asset, name: "anna" }));
  expect(error).toMatchObject({ status: 404, code: "asset_group_not_found" });
  expect(gateway.simulator.simulator.truth.list().total).toBe(0);
});

test("uploads files only into existing groups of the local platform", async () => {
  const created = await gateway.post("/v1/asset-groups", { platform: "volcengine", name: "heroes" });
  const { id } = (await created.json()) as { id: string };
  for (const group of [id, "ag_01M7YK1MQB0000F97S3E9P36EE", "as_1", "../x"]) {
    const body = uploadForm({ group_id: group }, png(300, 300));
    const headers = { authorization: `Bearer ${aliceKey}` };
    const error = await errorOf(await fetch(`${gateway.url}/v1/assets`, { method: "POST", headers, body }));
    expect(error).toMatchObject({ status: 404, code: "asset_group_not_found" });
  }
  const unknown = uploadForm({ group_id: id, platform: "mars" }, png(300, 300));
  const headers = { authorization: `Bearer ${aliceKey}` };
  const error = await errorOf(await fetch(`${gateway.url}/v1/assets`, { method: "POST", headers, body: unknown }));
  expect(error).toMatchObject({ status: 404, code: "not_found", param: "platform" });
});
