import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { aliceKey, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { ask, videoGateway } from "../video-tasks/video-gateway.ts";
import { png, uploadForm, wav } from "./upload-form.ts";

let gateway: StartedGateway;
let group: string;
beforeAll(async () => {
  gateway = await startGateway(videoGateway);
  const made = await gateway.post("/v1/asset-groups", { platform: "local", name: "heroes" });
  group = ((await made.json()) as { id: string }).id;
});
afterAll(() => gateway.stop());

const headers = { authorization: `Bearer ${aliceKey}` };
type Shown = { id: string; [member: string]: unknown };
async function upload(form: FormData): Promise<Shown> {
  const answer = await fetch(`${gateway.url}/v1/assets`, { method: "POST", headers, body: form });
  expect([answer.status, answer.status === 200 ? "" : await answer.clone().text()]).toEqual([200, ""]);
  return (await answer.json()) as Shown;
}

test("a picture that is uploaded is Active at once, and is what it was", async () => {
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
  const listed = (await (await gateway.get("/v1/assets?status=Active")).json()) as { data: Shown[] };
  expect(listed.data.map(({ id }) => id)).toContain(asset.id);
  const task = await gateway.post("/v1/video/tasks", { ...ask, image: `asset://${asset.id}` });
  expect(task.status).toBe(200);
  const sent = gateway.simulator.simulator.truth.list().data.at(-1)?.body_text ?? "";
  expect(sent).toContain(`data:image/png;base64,${Buffer.from(picture).toString("base64")}`);
});

test.each([
  ["its own name, without folders and ending", "C:\\films\\hero.final.PNG", "hero.final"],
  ["no more of it than names have", `${"好".repeat(90)}.png`, "好".repeat(64)],
])("a file without a name is called by %s", async (_, filename, name) => {
  expect((await upload(uploadForm({ group_id: group }, png(300, 300), filename)))["name"]).toBe(name);
});

test("what a file is called and said to be counts for nothing: its bytes say what it is", async () => {
  const asset = await upload(
    uploadForm({ group_id: group, asset_type: "Audio", platform: "local" }, wav(), "hero.png"),
  );
  expect(asset).toMatchObject({ asset_type: "Audio", content_type: "audio/wav" });
});

test("fields may stand behind the file, and the same bytes are kept once", async () => {
  const form = new FormData();
  form.append("file", new Blob([png(500, 400)]), "a.png");
  form.append("group_id", group);
  const [one, two] = [await upload(form), await upload(uploadForm({ group_id: group }, png(500, 400)))];
  const gone = await fetch(`${gateway.url}/v1/assets/${one.id}`, { method: "DELETE", headers });
  expect(gone.status).toBe(200);
  const task = await gateway.post("/v1/video/tasks", { ...ask, image: `asset://${two.id}` });
  expect(task.status).toBe(200);
});

test("nothing of an upload stays in the spool", () => {
  expect(readdirSync(join(gateway.dataDir, "spool"))).toEqual([]);
});
