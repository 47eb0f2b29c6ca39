import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../../../test/until.ts";
import { aliceKey, errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { videoGateway } from "../video-tasks/video-gateway.ts";
import { png, uploadForm, wav } from "./upload-form.ts";

let gateway: StartedGateway;
let group: string;
beforeAll(async () => {
  gateway = await startGateway(videoGateway);
  const created = await gateway.post("/v1/asset-groups", { platform: "local", name: "heroes" });
  group = ((await created.json()) as { id: string }).id;
});
afterAll(() => gateway.stop());

/** Files of the blob store, in its folders. */
const blobs = () =>
  readdirSync(join(gateway.dataDir, "blobs"), { recursive: true, withFileTypes: true }).filter((each) => each.isFile());

afterEach(async () => {
  expect(((await (await gateway.get("/v1/assets")).json()) as { data: object[] }).data).toEqual([]);
  expect(blobs()).toEqual([]);
  // The gateway notices a caller's disconnect a moment later.
  await until(() => readdirSync(join(gateway.dataDir, "spool")).length === 0);
});

const headers = { authorization: `Bearer ${aliceKey}` };
const upload = async (body: FormData) =>
  errorOf(await fetch(`${gateway.url}/v1/assets`, { method: "POST", headers, body }));
const picture = png(300, 300);

test.each([
  ["no file", () => uploadForm({ group_id: group }, null), "missing_required_parameter", "file"],
  ["no group", () => uploadForm({}, picture), "missing_required_parameter", "group_id"],
  ["a field called file", () => uploadForm({ group_id: group, file: "x" }, null), "invalid_request", "file"],
  [
    "a url next to the file",
    () => uploadForm({ group_id: group, url: "https://a.b" }, picture),
    "invalid_request",
    "url",
  ],
  [
    "an unknown type",
    () => uploadForm({ group_id: group, asset_type: "image" }, picture),
    "invalid_request",
    "asset_type",
  ],
  [
    "another type",
    () => uploadForm({ group_id: group, asset_type: "Video" }, picture),
    "invalid_request",
    "asset_type",
  ],
  ["a name too long", () => uploadForm({ group_id: group, name: "x".repeat(65) }, picture), "invalid_request", "name"],
  [
    "a name far too long",
    () => uploadForm({ group_id: group, name: "x".repeat(9_999) }, picture),
    "invalid_request",
    "name",
  ],
  [
    "another platform",
    () => uploadForm({ group_id: group, platform: "volcengine" }, picture),
    "invalid_request",
    "platform",
  ],
  ["a side too short", () => uploadForm({ group_id: group }, png(299, 300)), "invalid_request", "file"],
  ["sides too unlike", () => uploadForm({ group_id: group }, png(900, 300)), "invalid_request", "file"],
  ["a sound too short", () => uploadForm({ group_id: group }, wav(2_044)), "invalid_request", "file"],
] as const)("names the wrong field of a form with %s, and stores nothing", async (_, form, code, param) => {
  expect(await upload(form())).toMatchObject({ status: 400, code, param });
});

test("rejects a second file, and a file in another field", async () => {
  const two = uploadForm({ group_id: group }, picture);
  two.append("file", new Blob([picture]), "b.png");
  expect(await upload(two)).toMatchObject({ status: 400, code: "invalid_request", param: "file" });
  const other = uploadForm({ group_id: group }, null);
  other.append("picture", new Blob([picture]), "a.png");
  expect(await upload(other)).toMatchObject({ status: 400, code: "invalid_request", param: "file" });
});

test.each([
  ["ends before its last boundary", '--b\r\ncontent-disposition: form-data; name="group_id"\r\n\r\nag_1\r\n'],
  ["has nothing in it", "--b--\r\n"],
  ["is empty", ""],
])("rejects a form that %s", async (_, body) => {
  const form = { headers: { "content-type": "multipart/form-data; boundary=b" } };
  expect(await errorOf(await gateway.post("/v1/assets", body, form))).toMatchObject({ status: 400 });
});

test("stores nothing when the caller disconnects in the middle of a form", async () => {
  const disconnect = new AbortController();
  const start = `--b\r\ncontent-disposition: form-data; name="file"; filename="a.png"\r\n\r\n`;
  const started = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.enqueue(new Uint8Array(Buffer.concat([Buffer.from(start), picture])));
      started.resolve();
      return new Promise(() => {});
    },
  });
  const type = { "content-type": "multipart/form-data; boundary=b" };
  const sending = fetch(`${gateway.url}/v1/assets`, {
    method: "POST",
    headers: { ...headers, ...type },
    body,
    signal: disconnect.signal,
  });
  await started.promise;
  disconnect.abort();
  expect(await sending.catch((thrown: Error) => thrown.name)).toBe("AbortError");
});
