import { afterAll, beforeAll, expect, test } from "bun:test";
import { type StartedHouse, startHouse } from "../../started-house.ts";
import { claudeHouse, hi, version } from "./claude-house.ts";

let house: StartedHouse;
beforeAll(async () => {
  house = await startHouse(claudeHouse);
});
afterAll(() => house.stop());

test.each([
  ["no version", {}, hi],
  ["a version that is no date", { "anthropic-version": "latest" }, hi],
  ["no JSON", version, "{"],
  ["no model", version, { ...hi, model: undefined }],
  ["no max_tokens", version, { ...hi, max_tokens: undefined }],
  ["no messages", version, { ...hi, messages: undefined }],
  ["messages that are no list", version, { ...hi, messages: "hi" }],
])("%s is refused in the dialect of the caller, before any upstream is asked", async (_title, headers, body) => {
  const before = house.simulator.simulator.truth.list().total;
  const response = await house.post("/v1/messages", body, { headers });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    type: "error",
    error: { type: "invalid_request_error", message: expect.any(String) },
    request_id: response.headers.get("x-request-id"),
  });
  expect(house.simulator.simulator.truth.list().total).toBe(before);
});

test("the upstream's own refusal passes as it is", async () => {
  const script = { status: 400 };
  const response = await house.post("/v1/messages", hi, { headers: version, script });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ type: "error", error: { type: "invalid_request_error" } });
});
