import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, errorOf, hello, type StartedHouse, startHouse } from "../../started-house.ts";

const bobKey = "sk-bob-0123456789abcdefghijk";
let house: StartedHouse;
beforeAll(async () => {
  house = await startHouse({
    keys: [
      { name: "alice", secret: aliceKey },
      { name: "bob", secret: bobKey, models: ["other-*"] },
    ],
  });
});
afterAll(() => house.stop());

test("a model that does not exist and one that is not granted look alike", async () => {
  const missing = await errorOf(await house.chat({ ...hello, model: "no-such" }));
  const forbidden = await errorOf(await house.chat(hello, { key: bobKey }));
  expect(missing).toMatchObject({ status: 404, code: "model_not_found", param: "model" });
  expect(forbidden.message.replace("gpt-test", "no-such")).toBe(missing.message);
  expect({ ...forbidden, message: "" }).toEqual({ ...missing, message: "" });
});

test("the refusal is in the ledger and nothing went upstream", async () => {
  const served = house.simulator.simulator.truth.list().total;
  const response = await house.chat({ ...hello, model: "no-such" });
  const entry = (await house.entries()).find((each) => each.requestId === response.headers.get("x-request-id"));
  expect(entry).toMatchObject({
    outcome: "rejected",
    httpStatus: 404,
    errorCode: "model_not_found",
    usageSource: "none",
  });
  expect(house.simulator.simulator.truth.list().total).toBe(served);
});

test.each(["/v1/nothing", "/v1/chat", "/v1"])("there is no %s", async (path) => {
  expect(await errorOf(await house.get(path))).toMatchObject({ status: 404, code: "not_found" });
});
