import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { videoGateway } from "../video-tasks/video-gateway.ts";
import { png, uploadForm } from "./upload-form.ts";

let gateway: StartedGateway;
let group: string;
beforeAll(async () => {
  gateway = await startGateway(videoGateway);
  const made = await gateway.post("/v1/asset-groups", { platform: "local", name: "heroes" });
  group = ((await made.json()) as { id: string }).id;
});
afterAll(() => gateway.stop());

const headers = { authorization: `Bearer ${aliceKey}` };
const refused = { status: 415, code: "unsupported_media_type" };

test("a group is no form, and an asset is JSON or a form", async () => {
  const form = { headers: { "content-type": "multipart/form-data; boundary=b" } };
  expect(await errorOf(await gateway.post("/v1/asset-groups", "--b--\r\n", form))).toMatchObject(refused);
  for (const type of ["image/png", "application/octet-stream", "application/x-www-form-urlencoded"]) {
    const told = await errorOf(await gateway.post("/v1/assets", "x", { headers: { "content-type": type } }));
    expect(told).toMatchObject(refused);
    expect(told.message).toContain("multipart/form-data");
  }
});

test("a form that is packed is refused", async () => {
  const form = { "content-type": "multipart/form-data; boundary=b", "content-encoding": "gzip" };
  expect(await errorOf(await gateway.post("/v1/assets", "--b--\r\n", { headers: form }))).toMatchObject(refused);
});

test.each([
  ["a text", new TextEncoder().encode("not a picture at all ".repeat(10))],
  ["a few bytes", new TextEncoder().encode("x")],
  ["a program", new Uint8Array(Buffer.from(`MZ${"\0".repeat(200)}`))],
  ["a picture as markup, which may hold scripts", new TextEncoder().encode(`<svg xmlns="x">${" ".repeat(90)}</svg>`)],
])("a file that is %s is refused by its bytes, whatever it is called", async (_, bytes) => {
  const form = uploadForm({ group_id: group }, bytes, "hero.png");
  const told = await errorOf(await fetch(`${gateway.url}/v1/assets`, { method: "POST", headers, body: form }));
  expect(told).toMatchObject({ ...refused, param: "file" });
  expect(((await (await gateway.get("/v1/assets")).json()) as { data: object[] }).data).toEqual([]);
});

test("a wrong format ends the reading: what follows is not waited for", async () => {
  const begin = `--b\r\ncontent-disposition: form-data; name="file"; filename="a.png"\r\n\r\n${"x".repeat(100)}`;
  let pulls = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      // Nothing comes after this, and no end either.
      if (pulls++ === 0) controller.enqueue(new TextEncoder().encode(begin));
      else await new Promise(() => {});
    },
  });
  const answer = await fetch(`${gateway.url}/v1/assets`, {
    method: "POST",
    headers: { ...headers, "content-type": "multipart/form-data; boundary=b" },
    body,
  });
  expect(await errorOf(answer)).toMatchObject(refused);
});

test("a picture inside a larger file is no picture", async () => {
  const hidden = new Uint8Array(Buffer.concat([Buffer.from("GIF8 but not quite, "), png(300, 300)]));
  const form = uploadForm({ group_id: group }, hidden);
  expect(await errorOf(await fetch(`${gateway.url}/v1/assets`, { method: "POST", headers, body: form }))).toMatchObject(
    refused,
  );
});
