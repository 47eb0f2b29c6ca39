import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect } from "node:net";
import { aliceKey, errorOf, type StartedGateway } from "../../started-gateway.ts";
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

/** Sends the target as raw bytes, because no HTTP client sends targets like these. */
function sendRaw(target: string, more = ""): Promise<string> {
  const { hostname, port } = new URL(gateway.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(
        `GET ${target} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${aliceKey}\r\n${more}connection: close\r\n\r\n`,
      );
    });
    let answer = "";
    socket.on("data", (bytes) => {
      answer += bytes.toString("latin1");
    });
    socket.on("close", () => resolve(answer));
    socket.on("error", reject);
  });
}

test.each([
  "/v1/providers/own/../../admin",
  "/v1/providers/own/files/../../x",
  "/v1/providers/own/%2e%2e/x",
  "/v1/providers/own/%2E%2E%2Fx",
  "/v1/providers/own/..%2fx",
  "/v1/providers/own/..;/x",
  "/v1/providers/own/./x",
  "/v1/providers/own/a%2fb",
  "/v1/providers/own/a%5cb",
  "/v1/providers/own/a\\b",
  "/v1/providers/own/a%252e%252e/b",
  "/v1/providers/own//other.example/x",
  "/v1/providers/own/a%0d%0aX-Evil:1",
  "/v1/providers/own/a%00b",
  "/v1/providers/own/a%zzb",
  "/v1/providers/own/a%ffb",
  "/v1/providers/own/%23x",
  "/v1/providers/own/%3fx",
  "/v1/providers//own/files",
])("rejects %s without calling the vendor", async (target) => {
  const before = vendor.received.length;
  const answer = await sendRaw(target);
  expect(answer).toMatch(/^HTTP\/1\.1 40[04] /);
  expect(vendor.received.length).toBe(before);
});

test.each([
  ["http://evil.example/v1/providers/own/files", "/v1/files"],
  ["/v1/providers/own/http://evil.example/x", null],
  ["/v1/providers/own/@evil.example/x", "/v1/@evil.example/x"],
  ["/v1/providers/own/:8080/x", "/v1/:8080/x"],
])("sends %s to no other host", async (target, expected) => {
  const before = vendor.received.length;
  await sendRaw(target);
  expect(vendor.received.slice(before).map((one) => one.target)).toEqual(expected === null ? [] : [expected]);
});

test.each([
  "key=sk-x",
  "api_key=x",
  "API-KEY=x",
  "k%65y=x",
  "access_token=x",
  "token=x",
  "X-Amz-Signature=x",
  "a=1&apikey=",
  "sig=x",
])("rejects a credential in the query, and names it: %s", async (query) => {
  const before = vendor.received.length;
  const error = await errorOf(await call(gateway, "GET", `/files?${query}`));
  expect(error).toMatchObject({ status: 400, code: "invalid_request" });
  expect(error.message).toContain("in a header");
  expect(error.message).not.toContain("sk-x");
  expect(vendor.received.length).toBe(before);
});

test("rejects an invalid or overlong query", async () => {
  for (const query of [`a=${"x".repeat(3_000)}`, "a=%zz&%zz=1"]) {
    expect((await call(gateway, "GET", `/files?${query}`)).status).toBe(400);
  }
});

test("rejects a GET with a body", async () => {
  const before = vendor.received.length;
  const answer = await sendRaw("/v1/providers/own/files", "content-length: 2\r\n");
  expect(answer).not.toMatch(/^HTTP\/1\.1 200 /);
  expect(vendor.received.length).toBe(before);
});

test("rejects a path with too many segments", async () => {
  expect((await call(gateway, "GET", `/${"a/".repeat(40)}b`)).status).toBe(400);
});

test("returns errors in the dialect of the provider", async () => {
  const anthropic = await startGranted(vendor, { kind: "anthropic" });
  try {
    const answer = await call(anthropic, "GET", "/v1/models?api_key=x");
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ type: "error", error: { type: "invalid_request_error" } });
  } finally {
    await anthropic.stop();
  }
});
