import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { videoGateway } from "../video-tasks/video-gateway.ts";
import { png, uploadForm } from "./upload-form.ts";

let gateway: StartedGateway;
let group: string;
beforeAll(async () => {
  gateway = await startGateway(videoGateway);
  const created = await gateway.post("/v1/asset-groups", { platform: "local", name: "heroes" });
  group = ((await created.json()) as { id: string }).id;
});
afterAll(() => gateway.stop());

const headers = { authorization: `Bearer ${aliceKey}` };
const refused = { status: 415, code: "unsupported_media_type" };

test("accepts JSON for groups, and JSON or forms for assets", async () => {
  const form = { headers: { "content-type": "multipart/form-data; boundary=b" } };
  expect(await errorOf(await gateway.post("/v1/asset-groups", "--b--\r\n", form))).toMatchObject(refused);
  for (const type of ["image/png", "application/octet-stream", "application/x-www-form-urlencoded"]) {
    const error = await errorOf(await gateway.post("/v1/assets", "x", { headers: { "content-type": type } }));
    expect(error).toMatchObject(refused);
    expect(error.message).toContain("multipart/form-data");
  }
});

test("rejects a compressed form", async () => {
  const form = { "content-type": "multipart/form-data; boundary=b", "content-encoding": "gzip" };
  expect(await errorOf(await gateway.post("/v1/assets", "--b--\r\n", { headers: form }))).toMatchObject(refused);
});

test.each([
  ["a text", new TextEncoder().encode("not a picture at all ".repeat(10))],
  ["a few bytes", new TextEncoder().encode("x")],
  ["a program", new Uint8Array(Buffer.from(`MZ${"\0".repeat(200)}`))],
  ["an SVG, which may contain scripts", new TextEncoder().encode(`<svg xmlns="x">${" ".repeat(90)}</svg>`)],
])("detects from its bytes that a file is %s, and rejects it", async (_, bytes) => {
  const form = uploadForm({ group_id: group }, bytes, "hero.png");
  const error = await errorOf(await fetch(`${gateway.url}/v1/assets`, { method: "POST", headers, body: form }));
  expect(error).toMatchObject({ ...refused, param: "file" });
  expect(((await (await gateway.get("/v1/assets")).json()) as { data: object[] }).data).toEqual([]);
});

test("rejects an unknown format without waiting for the rest of the file", async () => {
  const start = `--b\r\ncontent-disposition: form-data; name="file"; filename="a.png"\r\n\r\n${"x".repeat(100)}`;
  let pulls = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      // Nothing follows, not even the end.
      if (pulls++ === 0) controller.enqueue(new TextEncoder().encode(start));
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

test("rejects a picture that follows other bytes", async () => {
  const hidden = new Uint8Array(Buffer.concat([Buffer.from("GIF8 but not quite, "), png(300, 300)]));
  const form = uploadForm({ group_id: group }, hidden);
  expect(await errorOf(await fetch(`${gateway.url}/v1/assets`, { method: "POST", headers, body: form }))).toMatchObject(
    refused,
  );
});
