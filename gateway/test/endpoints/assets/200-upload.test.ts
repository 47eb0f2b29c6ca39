import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { aliceKey, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { taskRequest, videoGateway } from "../video-tasks/video-gateway.ts";
import { png, uploadForm, wav } from "./upload-form.ts";

let gateway: StartedGateway;
let group: string;
beforeAll(async () => {
  gateway = await startGateway(videoGateway);
  const created = await gateway.post("/v1/asset-groups", { platform: "local", name: "heroes" });
  group = ((await created.json()) as { id: string }).id;
});
afterAll(() => gateway.stop());

const headers = { authorization: `Bearer ${aliceKey}` };
type AssetBody = { id: string; [member: string]: unknown };
async function upload(form: FormData): Promise<AssetBody> {
  const answer = await fetch(`${gateway.url}/v1/assets`, { method: "POST", headers, body: form });
  expect([answer.status, answer.status === 200 ? "" : await answer.clone().text()]).toEqual([200, ""]);
  return (await answer.json()) as AssetBody;
}

test("stores an uploaded picture as Active and sends its exact bytes to the vendor", async () => {
  const picture = png(400, 300);
  const asset = await upload(uploadForm({ group_id: group, name: "hero" }, picture));
  expect(asset).toMatchObject({
    object: "asset",
    platform: "local",
    group_id: group,
    name: "hero",
    asset_type: "Image",
    status: "Active",
    error: null,
    size_bytes: picture.length,
    content_type: "image/png",
    url: null,
  });
  const listed = (await (await gateway.get("/v1/assets?status=Active")).json()) as { data: AssetBody[] };
  expect(listed.data.map(({ id }) => id)).toContain(asset.id);
  const task = await gateway.post("/v1/video/tasks", { ...taskRequest, image: `asset://${asset.id}` });
  expect(task.status).toBe(200);
  const sent = gateway.simulator.simulator.truth.list().data.at(-1)?.body_text ?? "";
  expect(sent).toContain(`data:image/png;base64,${Buffer.from(picture).toString("base64")}`);
});

test.each([
  ["the file name, without folders and extension", "C:\\films\\hero.final.PNG", "hero.final"],
  ["the file name, shortened to the longest name allowed", `${"好".repeat(90)}.png`, "好".repeat(64)],
])("without a name field, the asset's name is %s", async (_, filename, name) => {
  expect((await upload(uploadForm({ group_id: group }, png(300, 300), filename)))["name"]).toBe(name);
});

test("detects the type from the bytes, not from the file name or the declared type", async () => {
  const asset = await upload(
    uploadForm({ group_id: group, asset_type: "Audio", platform: "local" }, wav(), "hero.png"),
  );
  expect(asset).toMatchObject({ asset_type: "Audio", content_type: "audio/wav" });
});

test("accepts fields after the file, and keeps shared bytes until their last asset is deleted", async () => {
  const form = new FormData();
  form.append("file", new Blob([png(500, 400)]), "a.png");
  form.append("group_id", group);
  const [one, two] = [await upload(form), await upload(uploadForm({ group_id: group }, png(500, 400)))];
  const deleted = await fetch(`${gateway.url}/v1/assets/${one.id}`, { method: "DELETE", headers });
  expect(deleted.status).toBe(200);
  const task = await gateway.post("/v1/video/tasks", { ...taskRequest, image: `asset://${two.id}` });
  expect(task.status).toBe(200);
});

test("leaves no upload in the spool", () => {
  expect(readdirSync(join(gateway.dataDir, "spool"))).toEqual([]);
});
