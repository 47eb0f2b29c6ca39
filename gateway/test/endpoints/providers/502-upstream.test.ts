import { afterAll, beforeAll, expect, test } from "bun:test";
import { startRawUpstream } from "../../raw-upstream.ts";
import { errorOf, type StartedGateway } from "../../started-gateway.ts";
import { call, startGranted, startVendor, type Vendor } from "./vendor.ts";

let vendor: Vendor;
let gateway: StartedGateway;
beforeAll(async () => {
  vendor = await startVendor();
  gateway = await startGranted(vendor);
});
afterAll(async () => {
  await gateway.stop();
  vendor.stop();
});

test("neither follows nor passes on a redirect", async () => {
  const other = await startVendor();
  try {
    for (const location of [other.url, `${vendor.url}/elsewhere`, "/elsewhere"]) {
      const before = vendor.received.length;
      vendor.answer = (_, response) => void response.writeHead(302, { location }).end();
      const answer = await call(gateway, "GET", "/files/file-1/content");
      expect(answer.headers.get("location")).toBeNull();
      const error = await errorOf(answer);
      expect(error).toMatchObject({ status: 502, code: "upstream_error" });
      expect(error.message).toContain("302");
      expect(vendor.received.length).toBe(before + 1);
    }
    expect(other.received).toHaveLength(0);
  } finally {
    other.stop();
  }
});

test("returns 502 when the vendor rejects the provider's key", async () => {
  vendor.answer = (_, response) => {
    response.writeHead(401, { "content-type": "application/json" });
    response.end('{"error":{"message":"Incorrect API key provided: sk-upstream-of-own of org-secret"}}');
  };
  const answer = await call(gateway, "GET", "/files");
  const text = await answer.text();
  expect(answer.status).toBe(502);
  expect(text).not.toContain("sk-upstream");
  expect(text).not.toContain("org-secret");
});

test("removes a key that the vendor repeats in another error", async () => {
  vendor.answer = (_, response) => {
    response.writeHead(400, { "content-type": "application/json" });
    response.end('{"error":{"message":"bad header Bearer sk-upstream-of-own"}}');
  };
  const answer = await call(gateway, "GET", "/files");
  expect(answer.status).toBe(400);
  expect(await answer.text()).not.toContain("sk-upstream-of-own");
});

test("returns an error of any shape byte for byte", async () => {
  const body = '{ "detail" : "You do not have permission", "code": 7 }';
  vendor.answer = (_, response) =>
    void response.writeHead(422, { "content-type": "application/problem+json" }).end(body);
  const answer = await call(gateway, "POST", "/predictions", { body: "{}" });
  expect([answer.status, answer.headers.get("content-type"), await answer.text()]).toEqual([
    422,
    "application/problem+json",
    body,
  ]);
});

test.each([["GET"], ["DELETE"], ["PUT"], ["PATCH"], ["POST"]])(
  "returns 502 and never repeats a %s whose connection is cut",
  async (method) => {
    const raw = await startRawUpstream((socket) => socket.destroy());
    const cut = await startGranted(vendor, { base_url: `${raw.url}/v1` });
    try {
      const body = method === "GET" || method === "DELETE" ? null : "{}";
      const answer = await call(cut, method, "/files/file-1", { body });
      expect(await errorOf(answer)).toMatchObject({ status: 502 });
      expect(raw.requests).toHaveLength(1);
      expect((await cut.entries()).length).toBe(1);
    } finally {
      await cut.stop();
      raw.stop();
    }
  },
);

test("reuses no closed connection, so nothing is sent twice", async () => {
  const raw = await startRawUpstream((socket, index) => {
    if (index === 0) socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}");
    else socket.destroy();
  });
  const closing = await startGranted(vendor, { base_url: `${raw.url}/v1` });
  try {
    expect((await call(closing, "GET", "/files")).status).toBe(200);
    expect((await call(closing, "GET", "/files")).status).toBe(502);
    expect(raw.requests).toHaveLength(2);
  } finally {
    await closing.stop();
    raw.stop();
  }
});

test("breaks the caller's connection when a download breaks off", async () => {
  const arrived = Promise.withResolvers<void>();
  vendor.answer = async (_, response) => {
    response.writeHead(200, { "content-type": "application/octet-stream" });
    response.write("the first half");
    await arrived.promise;
    response.destroy();
  };
  const answer = await call(gateway, "GET", "/files/file-1/content");
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  expect(new TextDecoder().decode((await reader.read()).value)).toBe("the first half");
  arrived.resolve();
  expect(
    await reader.read().then(
      ({ done }) => (done ? "whole" : "more"),
      () => "broken",
    ),
  ).toBe("broken");
});
