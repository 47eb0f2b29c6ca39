import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, errorOf, hello, type StartedGateway, startGateway } from "../../started-gateway.ts";

const bobKey = "sk-bob-0123456789abcdefghijk";
let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    keys: [
      { name: "alice", secret: aliceKey },
      { name: "bob", secret: bobKey, models: ["other-*"] },
    ],
  });
});
afterAll(() => gateway.stop());

test("answers the same for a missing model and for one that the key may not use", async () => {
  const missing = await errorOf(await gateway.chat({ ...hello, model: "no-such" }));
  const forbidden = await errorOf(await gateway.chat(hello, { key: bobKey }));
  expect(missing).toMatchObject({ status: 404, code: "model_not_found", param: "model" });
  expect(forbidden.message.replace("gpt-test", "no-such")).toBe(missing.message);
  expect({ ...forbidden, message: "" }).toEqual({ ...missing, message: "" });
});

test("records the rejection in the ledger and sends nothing upstream", async () => {
  const served = gateway.simulator.simulator.truth.list().total;
  const response = await gateway.chat({ ...hello, model: "no-such" });
  const entry = (await gateway.entries()).find((each) => each.requestId === response.headers.get("x-request-id"));
  expect(entry).toMatchObject({
    outcome: "rejected",
    httpStatus: 404,
    errorCode: "model_not_found",
    usageSource: "none",
  });
  expect(gateway.simulator.simulator.truth.list().total).toBe(served);
});

test.each(["/v1/nothing", "/v1/chat", "/v1"])("returns 404 for %s", async (path) => {
  expect(await errorOf(await gateway.get(path))).toMatchObject({ status: 404, code: "not_found" });
});
