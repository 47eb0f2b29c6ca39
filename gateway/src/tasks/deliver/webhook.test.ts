import { expect, test } from "bun:test";
import { webhookHeaders } from "./deliveries.ts";

test("signs as Standard Webhooks does: the example of its documentation", () => {
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const headers = webhookHeaders("msg_p5jXN8AQM9LWM0D4loKWxJek", '{"test": 2432232314}', [secret], 1_614_265_330_999);
  expect(headers).toEqual({
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  });
});

test("signs with each of several secrets, and either one verifies it", () => {
  const sign = (...secrets: string[]) => webhookHeaders("msg_1", "{}", secrets, 0)["webhook-signature"];
  expect(sign("whsec_eA==", "whsec_eQ==")).toBe(`${sign("whsec_eA==")} ${sign("whsec_eQ==")}`);
});

test("never signs with an empty key", () => {
  expect(() => webhookHeaders("msg_1", "{}", ["whsec_"], 0)).toThrow("empty");
});
