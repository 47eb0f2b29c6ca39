import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({ keys: [{ name: "alice", secret: aliceKey, models: ["other"] }] });
});
afterAll(() => gateway.stop());

test.each(["/v1/models", "/v1/models/gpt-test", "/v1/usage"])("returns 401 for %s without a key", async (path) => {
  expect(await errorOf(await gateway.get(path, {}))).toMatchObject({ status: 401, code: "invalid_api_key" });
});

test("answers the same for a missing model and for one that the key may not use", async () => {
  const missing = await errorOf(await gateway.get("/v1/models/no-such"));
  const forbidden = await errorOf(await gateway.get("/v1/models/gpt-test"));
  expect(missing).toMatchObject({ status: 404, code: "model_not_found" });
  expect(forbidden.message.replace("gpt-test", "no-such")).toBe(missing.message);
});

test("returns 400 for a name with invalid percent-encoding", async () => {
  expect(await errorOf(await gateway.get("/v1/models/%zz"))).toMatchObject({ status: 400, code: "invalid_request" });
});
