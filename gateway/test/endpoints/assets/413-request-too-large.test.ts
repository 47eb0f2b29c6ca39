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

const tooLarge = { status: 413, code: "request_too_large" };
const wide = (members: number): string =>
  `{"platform":"local",${Array.from({ length: members }, (_, index) => `"k${index}":1`).join(",")}}`;

test.each(["/v1/assets", "/v1/asset-groups"])("%s takes a megabyte at most, packed or not", async (path) => {
  const body = `{"platform":"${"x".repeat(bounds.plainBodyBytesMax)}"}`;
  expect(await errorOf(await gateway.post(path, body))).toMatchObject(tooLarge);
  const packed = await gateway.post(path, gzipSync(body), { headers: { "content-encoding": "gzip" } });
  expect(await errorOf(packed)).toMatchObject(tooLarge);
});

test.each(["/v1/assets", "/v1/asset-groups", "/v1/video/tasks"])(
  "%s takes no body of very many members or values",
  async (path) => {
    expect(await errorOf(await gateway.post(path, wide(bounds.plainMembersMax)))).toMatchObject(tooLarge);
    const values = `{"platform":[${"1,".repeat(bounds.plainValuesMax)}1]}`;
    expect(await errorOf(await gateway.post(path, values))).toMatchObject(tooLarge);
  },
);

test("a file is refused that is larger than its type may be, and a form larger than any file", async () => {
  const made = await gateway.post("/v1/asset-groups", { platform: "local", name: "sounds" });
  const { id } = (await made.json()) as { id: string };
  const headers = { authorization: `Bearer ${aliceKey}` };
  const upload = async (bytes: number) => {
    const body = uploadForm({ group_id: id }, wav(bytes), "a.wav");
    return errorOf(await fetch(`${gateway.url}/v1/assets`, { method: "POST", headers, body }));
  };
  expect(await upload(assetAudioBytesMax + 1)).toMatchObject({ ...tooLarge, param: "file" });
  expect(await upload(bounds.assetUploadBytesMax)).toMatchObject(tooLarge);
});
