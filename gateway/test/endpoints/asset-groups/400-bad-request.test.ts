import { afterAll, beforeAll, expect, test } from "bun:test";
import { errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { videoGateway } from "../video-tasks/video-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(videoGateway);
});
afterAll(() => gateway.stop());

const path = "/v1/asset-groups";

test.each([
  ["name", { platform: "local", name: " " }],
  ["name", { platform: "local", name: "a\u0000b" }],
  ["name", { platform: "local", name: "\u{1F3AC}".repeat(65) }],
  ["description", { platform: "local", name: "a", description: "d".repeat(301) }],
  ["description", { platform: "local", name: "a", description: "a\u0007b" }],
  ["project_name", { platform: "local", name: "a", project_name: {} }],
])("returns 400 for an invalid %s: %j", async (param, body) => {
  expect(await errorOf(await gateway.post(path, body))).toMatchObject({ status: 400, code: "invalid_request", param });
});

test("counts characters, not bytes, against the limit of 64", async () => {
  expect((await gateway.post(path, { platform: "local", name: "\u{1F3AC}".repeat(64) })).status).toBe(200);
});

test("names the platform when no account serves it", async () => {
  const error = await errorOf(await gateway.post(path, { platform: "byteplus", name: "heroes" }));
  expect(error).toMatchObject({ status: 400, code: "invalid_request", param: "platform" });
  expect(error.message).toContain("byteplus");
});

test("names the parameter when a page cursor is invalid", async () => {
  expect(await errorOf(await gateway.get(`${path}?after=x`))).toMatchObject({ status: 400, param: "after" });
});
