import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, errorOf, hello, type StartedGateway, startGateway } from "../../started-gateway.ts";

const disabledKey = "sk-disabled-0123456789abcdef";
const expiredKey = "sk-expired-0123456789abcdefg";
let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    keys: [
      { name: "alice", secret: aliceKey },
      { name: "disabled", secret: disabledKey, enabled: false },
      { name: "expired", secret: expiredKey, expires_at: "2020-01-01T00:00:00Z" },
    ],
  });
});
afterAll(() => gateway.stop());

test.each([
  ["no key", null, {}, "invalid_api_key"],
  ["an unknown key", "sk-unknown-0123456789abcdefgh", {}, "invalid_api_key"],
  ["a disabled key", disabledKey, {}, "disabled_api_key"],
  ["an expired key", expiredKey, {}, "expired_api_key"],
  ["two different keys", aliceKey, { "x-api-key": disabledKey }, "conflicting_credentials"],
])("rejects %s before reading the body", async (_title, key, headers, code) => {
  const response = await gateway.chat("{", { key, headers });
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(await errorOf(response)).toMatchObject({ status: 401, code });
});

test("decides the same for a key in either header", async () => {
  for (const key of [aliceKey, disabledKey, expiredKey, "sk-unknown-0123456789abcdefgh"]) {
    const bearer = await gateway.chat(hello, { key, script: { tokens: 1 } });
    const header = await gateway.chat(hello, { key: null, headers: { "x-api-key": key }, script: { tokens: 1 } });
    await Promise.all([bearer.text(), header.text()]);
    expect(header.status).toBe(bearer.status);
  }
});

test("never repeats the key in the error", async () => {
  const response = await gateway.chat(hello, { key: "sk-canary-9d3f0c5e7a8b1c2d3e4f" });
  expect(await response.text()).not.toContain("canary");
});
