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
  ["a version that is no date", { "anthropic-version": "latest" }, hi],
  ["a version that is no day", { "anthropic-version": "2023-02-30" }, hi],
  ["two versions of one vendor", { "anthropic-version": "2023-06-01, 2024-01-01" }, hi],
  ["a bad version beside another vendor's good one", { "anthropic-version": "1", "acme-version": "2024-01-01" }, hi],
  ["another vendor's version that is no date", { "acme-version": "v2" }, hi],
  ["another vendor's two versions", { "acme-version": "2024-01-01, 2024-02-01" }, hi],
  ["a version that is too long", { "acme-version": `2024-01-01${"0".repeat(4_000)}` }, hi],
  ["a vendor's name that is too long", { [`${"a".repeat(80)}-version`]: "2024-01-01" }, hi],
  ["a version of a program", { "x-acme-version": "2024-01-01" }, hi],
  ["an empty version", { "anthropic-version": "", "acme-version": "" }, hi],
  ["no JSON", version, "{"],
  ["no model", version, { ...hi, model: undefined }],
  ["no max_tokens", version, { ...hi, max_tokens: undefined }],
  ["no messages", version, { ...hi, messages: undefined }],
  ["messages that are no list", version, { ...hi, messages: "hi" }],
])("%s is refused in the dialect of the caller, before any upstream is asked", async (_title, headers, body) => {
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

test("the upstream's own refusal passes as it is", async () => {
  const script = { status: 400 };
  const response = await gateway.post("/v1/messages", hi, { headers: version, script });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ type: "error", error: { type: "invalid_request_error" } });
});
