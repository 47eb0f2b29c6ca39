import { afterAll, beforeAll, expect, test } from "bun:test";
import { errorOf, hello, type StartedGateway, startGateway } from "../../started-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

test.each([
  ["no body", "", "invalid_json", null],
  ["a body that is cut off", '{"model":"gpt-test","messages":[', "invalid_json", null],
  ["a body that is not an object", "[1,2]", "invalid_json", null],
  [
    "two models",
    '{"model":"gpt-test","model":"other","messages":[{"role":"user","content":"x"}]}',
    "invalid_json",
    null,
  ],
  ["endless nesting", `{"model":"gpt-test","messages":${"[".repeat(5_000)}`, "invalid_json", null],
  ["no model", '{"messages":[{"role":"user","content":"x"}]}', "missing_required_parameter", "model"],
  ["no messages", '{"model":"gpt-test"}', "missing_required_parameter", "messages"],
  ["messages that are not a list", '{"model":"gpt-test","messages":"hi"}', "invalid_request", "messages"],
  [
    "a stream that is neither true nor false",
    '{"model":"gpt-test","messages":[1],"stream":1}',
    "invalid_request",
    "stream",
  ],
])("returns 400 for %s and names the field", async (_title, body, code, param) => {
  const served = gateway.simulator.simulator.truth.list().total;
  const response = await gateway.chat(body);
  expect(response.headers.get("x-request-id")).toMatch(/^req_/);
  expect(await errorOf(response)).toMatchObject({ status: 400, code, param });
  expect(gateway.simulator.simulator.truth.list().total).toBe(served);
});

test("returns an upstream's 400 unchanged", async () => {
  const body =
    '{"error":{"message":"max_tokens is too large","type":"invalid_request_error","param":"max_tokens","code":"invalid_value"}}';
  const response = await gateway.chat(hello, { script: { status: 400, body } });
  expect(response.status).toBe(400);
  expect(await response.text()).toBe(body);
});

test("names the header when the tags are invalid", async () => {
  for (const tags of ["no-value", "team=a\tb"]) {
    const response = await gateway.chat(hello, { headers: { "x-sluice-tags": tags } });
    expect(await errorOf(response)).toMatchObject({ status: 400, code: "invalid_request", param: "x-sluice-tags" });
  }
});
