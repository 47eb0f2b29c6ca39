import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { aliceKey, type StartedGateway, startGateway } from "../started-gateway.ts";
import { rawExchange } from "./raw-socket.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    models: [
      { name: "gpt-test", deployments: [{ provider: "main" }] },
      { name: "meta/llama-3.1~x", deployments: [{ provider: "main" }] },
    ],
  });
});
afterAll(() => gateway?.stop());

const get = (target: string, headers = "") =>
  rawExchange(gateway.gateway.server.port, `GET ${target} HTTP/1.1\r\nhost: a\r\n${headers}`);

describe("refuses an ambiguous target:", () => {
  test.each([
    "/v1/..\\metrics",
    "/v1/..\\api\\status",
    "/v1/..\\console\\",
    "/v1/../metrics",
    "/v1/%2e%2e/metrics",
    "/v1/.%2E/metrics",
    "/v1/%2e./metrics",
    "/v1/..%5cmetrics",
    "/v1%2f..%2fmetrics",
    "/v1/..%2fmetrics",
    "/v1/models/..%2f..%2fmetrics",
    "/v1/models/%2e%2e%2fmetrics",
    "/v1/models/a%2F%2Fb",
    "/v1/models/..;/..;/metrics",
    "/v1\\models",
    "/v1/models\\..\\..\\metrics",
    "/v1/a\\b/..\\..\\..\\metrics",
    "/./metrics",
    "/metrics/.",
    "/metrics/..",
    "/x/../metrics",
    "//metrics",
    "/v1//models",
    "/v1/models//",
    "/v1//../metrics",
    "/%6detrics",
    "/%61pi/status",
    "/api/%73tatus",
    "/v1/%6dodels",
    "/metrics%00",
    "/metrics%0a",
    "/metrics%7f",
    "/metrics%",
    "/metrics%2",
    "/metrics%zz",
    "/metrics%ff",
    "/metrics\xff",
    "/metrics#x",
    "/metrics#/../v1/models",
    "/v1/models#x",
    `/v1${"/x".repeat(30)}`,
    "http://other/v1/../metrics",
    "http://other/v1/..\\metrics",
    "metrics",
    "*",
  ])("GET %s", async (target) => {
    const { status, text } = await get(target);
    expect(status).toBe(400);
    expect(text).not.toContain("sluice_");
    if (target.startsWith("/v1/")) expect(text).toMatch(/"(?:code|type)":"invalid_request/);
  });

  test("CONNECT", async () => {
    expect((await rawExchange(gateway.gateway.server.port, "CONNECT a:1 HTTP/1.1\r\nhost: a")).status).toBe(400);
  });

  test("with a control character or a space", async () => {
    for (const target of ["/v1/mod\tels", "/v1/mod\x01els", "/v1/ models"]) {
      expect((await get(target)).status).toBeGreaterThanOrEqual(400);
    }
  });
});

const withKey = `authorization: Bearer ${aliceKey}\r\n`;

test.each([
  ["/v1/models", 200],
  ["/v1/models/gpt-test", 200],
  ["/v1/models/meta/llama-3.1~x", 200],
  ["/v1/models/meta%2Fllama-3.1~x", 200],
  ["/v1/models/caf%C3%A9", 404],
  ["/v1/models?x=/../..\\metrics", 200],
  ["/v1/nothing/here", 404],
  ["/metrics", 200],
  ["/console", 308],
  ["/docs/", 308],
  ["/docs/start.js", 200],
  ["/api/status", 200],
  ["/api/status?%2e%2e", 200],
  ["/", 302],
])("accepts a plain target: GET %s", async (target, status) => {
  expect((await get(target, withKey)).status).toBe(status);
});
