import { afterAll, beforeAll, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { assetAudioBytesMax } from "#assets/media-type.ts";
import { bounds } from "#core/index.ts";
import { aliceKey, errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { uploadForm, wav } from "./upload-form.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const requestTooLarge = { status: 413, code: "request_too_large" };
const withMembers = (members: number): string =>
  `{"platform":"local",${Array.from({ length: members }, (_, index) => `"k${index}":1`).join(",")}}`;

test.each(["/v1/assets", "/v1/asset-groups"])("%s accepts at most one megabyte, compressed or not", async (path) => {
  const body = `{"platform":"${"x".repeat(bounds.plainBodyBytesMax)}"}`;
  expect(await errorOf(await gateway.post(path, body))).toMatchObject(requestTooLarge);
  const compressed = await gateway.post(path, gzipSync(body), { headers: { "content-encoding": "gzip" } });
  expect(await errorOf(compressed)).toMatchObject(requestTooLarge);
});

test.each(["/v1/assets", "/v1/asset-groups", "/v1/video/tasks"])(
  "%s rejects bodies with too many members or values",
  async (path) => {
    expect(await errorOf(await gateway.post(path, withMembers(bounds.plainMembersMax)))).toMatchObject(requestTooLarge);
    const values = `{"platform":[${"1,".repeat(bounds.plainValuesMax)}1]}`;
    expect(await errorOf(await gateway.post(path, values))).toMatchObject(requestTooLarge);
  },
);

test("rejects a file larger than its type allows, and a form larger than any file may be", async () => {
  const created = await gateway.post("/v1/asset-groups", { platform: "local", name: "sounds" });
  const { id } = (await created.json()) as { id: string };
  const headers = { authorization: `Bearer ${aliceKey}` };
  const upload = async (bytes: number) => {
    const body = uploadForm({ group_id: id }, wav(bytes), "a.wav");
    return errorOf(await fetch(`${gateway.url}/v1/assets`, { method: "POST", headers, body }));
  };
  expect(await upload(assetAudioBytesMax + 1)).toMatchObject({ ...requestTooLarge, param: "file" });
  expect(await upload(bounds.assetUploadBytesMax)).toMatchObject(requestTooLarge);
});
