import { afterAll, beforeAll, expect, test } from "bun:test";
import { type StartedGateway, startGateway } from "../../started-gateway.ts";
import { claudeGateway, hi, version } from "./claude-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(claudeGateway);
});
afterAll(() => gateway.stop());

test.each([
  ["no version", {}, hi],
  ["a version that is not a date", { "anthropic-version": "latest" }, hi],
  ["a version that is not a valid date", { "anthropic-version": "2023-02-30" }, hi],
  ["two versions of one vendor", { "anthropic-version": "2023-06-01, 2024-01-01" }, hi],
  [
    "an invalid version next to another vendor's valid one",
    { "anthropic-version": "1", "acme-version": "2024-01-01" },
    hi,
  ],
  ["another vendor's version that is not a date", { "acme-version": "v2" }, hi],
  ["another vendor's two versions", { "acme-version": "2024-01-01, 2024-02-01" }, hi],
  ["a version that is too long", { "acme-version": `2024-01-01${"0".repeat(4_000)}` }, hi],
  ["a vendor's name that is too long", { [`${"a".repeat(80)}-version`]: "2024-01-01" }, hi],
  ["a program's version", { "x-acme-version": "2024-01-01" }, hi],
  ["an empty version", { "anthropic-version": "", "acme-version": "" }, hi],
  ["invalid JSON", version, "{"],
  ["no model", version, { ...hi, model: undefined }],
  ["no max_tokens", version, { ...hi, max_tokens: undefined }],
  ["no messages", version, { ...hi, messages: undefined }],
  ["messages that are not a list", version, { ...hi, messages: "hi" }],
])("returns 400 in the caller's dialect for %s, without calling an upstream", async (_title, headers, body) => {
  const before = gateway.simulator.simulator.truth.list().total;
  const response = await gateway.post("/v1/messages", body, { headers });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    type: "error",
    error: { type: "invalid_request_error", message: expect.any(String) },
    request_id: response.headers.get("x-request-id"),
  });
  expect(gateway.simulator.simulator.truth.list().total).toBe(before);
});

test("returns an upstream's 400 unchanged", async () => {
  const script = { status: 400 };
  const response = await gateway.post("/v1/messages", hi, { headers: version, script });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ type: "error", error: { type: "invalid_request_error" } });
});
