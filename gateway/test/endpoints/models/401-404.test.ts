import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({ keys: [{ name: "alice", secret: aliceKey, models: ["other"] }] });
});
afterAll(() => gateway.stop());

test.each(["/v1/models", "/v1/models/gpt-test", "/v1/usage"])("%s wants a key", async (path) => {
  expect(await errorOf(await gateway.get(path, {}))).toMatchObject({ status: 401, code: "invalid_api_key" });
});

test("a model that does not exist and one that is not granted look alike", async () => {
  const missing = await errorOf(await gateway.get("/v1/models/no-such"));
  const forbidden = await errorOf(await gateway.get("/v1/models/gpt-test"));
  expect(missing).toMatchObject({ status: 404, code: "model_not_found" });
  expect(forbidden.message.replace("gpt-test", "no-such")).toBe(missing.message);
});

test("a name that is not valid percent-encoding is a bad request", async () => {
  expect(await errorOf(await gateway.get("/v1/models/%zz"))).toMatchObject({ status: 400, code: "invalid_request" });
});
