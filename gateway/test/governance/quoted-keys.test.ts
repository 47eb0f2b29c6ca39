import { afterAll, beforeAll, expect, test } from "bun:test";
import { type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

/** Has no vendor's key format, so only its value identifies it. */
const plainKey = "plain+key.of.the.company/2026==abcdWXYZ";
const vendorKey = "sk-proj-0123456789abcdefghijKLMNwxyz";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => [
      upstream("plain", simulator, { api_key: plainKey }),
      upstream("vendor", simulator, { api_key: vendorKey, settings: { endpoints: ["chat", "messages"] } }),
    ],
    models: [
      { name: "plain", deployments: [{ provider: "plain" }] },
      { name: "vendor", deployments: [{ provider: "vendor" }] },
    ],
  });
});
afterAll(() => gateway.stop());

/** A message that scripts the simulator's answer; a header could not carry all of it. */
const scripted = (status: number, body: string) => [
  { role: "user", content: `[[sim ${JSON.stringify({ status, body })}]]` },
];

test.each([
  ["plain", `The key ${plainKey} may not do this.`, "The key [redacted] may not do this."],
  ["plain", `Key ${plainKey.slice(0, 12)} (cut off) may not do this.`, "Key [redacted] (cut off) may not do this."],
  ["plain", "Key ****WXYZ may not do this.", "Key [redacted] may not do this."],
  ["vendor", `Incorrect key: ${vendorKey}.`, "Incorrect key: [redacted]."],
  ["vendor", "Incorrect API key provided: sk-proj-********wxyz.", "Incorrect API key provided: [redacted]."],
  ["vendor", "Incorrect API key provided: sk-p...wxyz.", "Incorrect API key provided: [redacted]."],
  ["vendor", "Incorrect API key provided: sk-p…wxyz.", "Incorrect API key provided: [redacted]."],
  ["vendor", "Another one, ghp_zyxwvutsrqponm9876543210ABCDEFGHIJ, too.", "Another one, [redacted], too."],
])("%s: passes on an upstream's error without the key it quotes: %s", async (model, original, redacted) => {
  for (const status of [400, 404, 422, 429]) {
    const body = JSON.stringify({
      error: { message: original, type: "invalid_request_error", param: null, code: "x" },
    });
    const response = await gateway.chat({ model, messages: scripted(status, body) });
    expect(response.status).toBe(status);
    expect(await response.text()).toBe(body.replace(original, redacted));
  }
});

test("passes on an error without a key byte for byte", async () => {
  const body = '{ "error":{"message":"wait ... at most 3 choices…  \\u00fc","type":"invalid_request_error"} }';
  const response = await gateway.chat({ model: "plain", messages: scripted(400, body) });
  expect(await response.text()).toBe(body);
});

test("a translated error does not quote the key either", async () => {
  const error = { message: `The key ${plainKey} may not do this.`, type: "invalid_request_error" };
  const ask = { model: "plain", max_tokens: 5, messages: scripted(400, JSON.stringify({ error })) };
  const response = await gateway.post("/v1/messages", ask, { headers: { "anthropic-version": "2023-06-01" } });
  const text = await response.text();
  expect(response.status).toBe(400);
  expect(text).toContain("may not do this");
  expect(text).not.toContain(plainKey.slice(0, 12));
});
