import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { connect } from "node:net";
import { aliceKey, errorOf, type StartedGateway } from "../../started-gateway.ts";
import {
  bearer,
  fileForm,
  powerlessKey,
  startFilesGateway,
  strangerKey,
  untilStored,
  upload,
} from "./files-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startFilesGateway();
});
afterAll(() => gateway.stop());
afterEach(async () => {
  expect(((await (await gateway.get("/v1/files")).json()) as { data: object[] }).data).toEqual([]);
  await untilStored(gateway, []);
});

const post = (body: FormData | string, headers: Record<string, string> = bearer()) =>
  fetch(`${gateway.url}/v1/files`, { method: "POST", headers, body });

test.each([
  ["no purpose", () => fileForm({}, "x"), "missing_required_parameter", "purpose"],
  ["an unknown purpose", () => fileForm({ purpose: "fun" }, "x"), "invalid_request", "purpose"],
  ["a purpose of results", () => fileForm({ purpose: "batch_output" }, "x"), "invalid_request", "purpose"],
  ["no file", () => fileForm({ purpose: "batch" }, null), "missing_required_parameter", "file"],
  ["an empty file", () => fileForm({ purpose: "batch" }, ""), "invalid_request", "file"],
  [
    "two files",
    () => {
      const form = fileForm({ purpose: "batch" }, "x");
      form.append("file", new Blob(["y"]), "b.txt");
      return form;
    },
    "invalid_request",
    "file",
  ],
  [
    "a lifetime too short",
    () => fileForm({ purpose: "batch", "expires_after[anchor]": "created_at", "expires_after[seconds]": "60" }, "x"),
    "invalid_request",
    "expires_after.seconds",
  ],
  [
    "an unknown anchor",
    () => fileForm({ purpose: "batch", "expires_after[anchor]": "now", "expires_after[seconds]": "7200" }, "x"),
    "invalid_request",
    "expires_after",
  ],
] as const)("returns 400 for a form with %s, and stores nothing", async (_, form, code, param) => {
  expect(await errorOf(await post(form()))).toMatchObject({ status: 400, code, param });
});

test("returns 415 for a body that is no form", async () => {
  const headers = { ...bearer(), "content-type": "application/json" };
  expect(await errorOf(await post("{}", headers))).toMatchObject({ status: 415, code: "unsupported_media_type" });
});

test("returns 413 for a body that declares more than the limit, before it is sent", async () => {
  const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
  const head = [
    "POST /v1/files HTTP/1.1",
    "host: 127.0.0.1",
    `authorization: Bearer ${aliceKey}`,
    "content-type: multipart/form-data; boundary=x",
    "content-length: 600000000",
    "",
    "",
  ].join("\r\n");
  socket.write(head);
  const answer = await new Promise<string>((resolve) => socket.once("data", (bytes) => resolve(bytes.toString())));
  expect(answer).toContain("413");
  expect(answer).toContain("request_too_large");
  socket.destroy();
});

test("keeps nothing of an upload that is cut in the middle", async () => {
  const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
  const begin = '--x\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\n';
  socket.write(
    [
      "POST /v1/files HTTP/1.1",
      "host: 127.0.0.1",
      `authorization: Bearer ${aliceKey}`,
      "content-type: multipart/form-data; boundary=x",
      "content-length: 9000000",
      "",
      begin + "x".repeat(2_000_000),
    ].join("\r\n"),
  );
  await new Promise((resolve) => socket.once("drain", resolve));
  socket.destroy();
});

test("returns 400 for a form without its last boundary", async () => {
  const body =
    '--x\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nabc';
  const headers = { ...bearer(), "content-type": "multipart/form-data; boundary=x" };
  expect(await errorOf(await post(body, headers))).toMatchObject({ status: 400, code: "invalid_request" });
});

test("returns 403 to a key that may use no model", async () => {
  expect(await errorOf(await post(fileForm({ purpose: "batch" }, "x"), bearer(powerlessKey)))).toMatchObject({
    status: 403,
    code: "forbidden",
  });
});

test("answers for another workspace's file like for a missing one", async () => {
  const { id } = await upload(gateway, fileForm({ purpose: "user_data" }, "secret"));
  const unused = `file-${"0".repeat(26)}`;
  const call = async (method: string, path: string) => {
    const answer = await fetch(`${gateway.url}${path}`, { method, headers: bearer(strangerKey) });
    return [answer.status, (await answer.text()).replaceAll(/"request_id":"[^"]*"/g, "")];
  };
  for (const [method, rest] of [
    ["GET", ""],
    ["GET", "/content"],
    ["DELETE", ""],
  ] as const) {
    const theirs = await call(method, `/v1/files/${id}${rest}`);
    expect(theirs).toEqual(await call(method, `/v1/files/${unused}${rest}`));
    expect(theirs).toEqual(await call(method, `/v1/files/x${rest}`));
    expect(theirs[0]).toBe(404);
  }
  expect(await call("GET", "/v1/files")).toEqual([200, expect.stringContaining('"data":[]')]);
  expect((await gateway.get(`/v1/files/${id}`)).status).toBe(200);
  await fetch(`${gateway.url}/v1/files/${id}`, { method: "DELETE", headers: bearer() });
});
