import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, hello, type StartedGateway, startGateway } from "../../started-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

test("returns the upstream's bytes unchanged", async () => {
  const response = await gateway.chat(hello, { script: { tokens: 5, keep_sent: true } });
  expect(response.status).toBe(200);
  const text = await response.text();
  expect(text).toBe(gateway.simulator.simulator.truth.list().data.at(-1)?.sent_body ?? "nothing was sent");
});

test("changes only the model in the body, and sends the account's own credential", async () => {
  const body = `{ "messages":[{"role":"user","content":"h\\u00e9"}],"model" : "gpt-test", "x_unknown":{"a":[1.0,2e3]},"n":1 }`;
  await (await gateway.chat(body, { script: { tokens: 1, keep_received: true } })).text();
  const received = gateway.simulator.simulator.truth.list().data.at(-1);
  expect(received?.received_body).toBe(body.replace('"gpt-test"', '"upstream-gpt"'));
  expect(received?.authorization_last4).toBe("main");
  expect(JSON.stringify(received?.request_headers)).not.toContain(aliceKey);
});

test("forwards the headers of vendors' clients, but no credentials, cookies, hop-by-hop or unknown headers", async () => {
  const headers = {
    "x-stainless-lang": "js",
    "openai-beta": "a=b",
    "x-my-own": "1",
    "x-portkey-custom-host": "https://elsewhere.example",
    "user-agent": "tool/1.0",
    cookie: "session=1",
    "x-forwarded-for": "203.0.113.9",
    "openai-organization": "org-of-the-caller",
    "x-api-key": aliceKey,
  };
  await (await gateway.chat(hello, { script: { tokens: 1 }, headers })).text();
  const received = gateway.simulator.simulator.truth.list().data.at(-1)?.request_headers ?? {};
  expect(received).toMatchObject({
    "x-stainless-lang": "js",
    "openai-beta": "a=b",
    "user-agent": "tool/1.0",
    "accept-encoding": "identity",
  });
  const removed = [
    "cookie",
    "x-forwarded-for",
    "openai-organization",
    "x-api-key",
    "x-my-own",
    "x-portkey-custom-host",
  ];
  for (const name of removed) expect(received).not.toHaveProperty(name);
});

test("names the provider and the deployment, and hides headers about the upstream account", async () => {
  const response = await gateway.chat(hello, {
    script: { tokens: 1, headers: { "openai-organization": "org-secret", "x-codex-x": "1" } },
  });
  await response.text();
  expect(response.headers.get("x-request-id")).toMatch(/^req_/);
  expect(response.headers.get("x-sluice-provider")).toBe("main");
  expect(response.headers.get("x-sluice-deployment")).toMatch(/^dep_/);
  expect(response.headers.get("x-sluice-attempts")).toBe("1");
  expect(Number(response.headers.get("x-sluice-overhead-ms"))).toBeGreaterThanOrEqual(0);
  expect(response.headers.get("x-codex-x")).toBe("1");
  expect(response.headers.has("openai-organization")).toBe(false);
});

test("writes one ledger entry with the upstream's usage and the exact price", async () => {
  const response = await gateway.chat(hello, { script: { tokens: 7, prompt_tokens: 100, cached_tokens: 40 } });
  await response.text();
  const entry = (await gateway.entries()).find((each) => each.requestId === response.headers.get("x-request-id"));
  expect(entry).toMatchObject({
    outcome: "succeeded",
    httpStatus: 200,
    errorCode: null,
    model: "gpt-test",
    upstreamModel: "upstream-gpt",
    provider: "main",
    stream: false,
    retryIndex: 0,
    usageSource: "upstream",
    usage: { inputUncached: 60, cacheRead: 40, output: 7 },
    // 60 × 1,250 + 40 × 125 + 7 × 10,000 nano-USD
    costNanoUsd: 150_000,
  });
  expect(entry?.priceVersion).toMatch(/^prc_/);
});

test("estimates missing usage, marks it as estimated, and keeps a reported zero", async () => {
  const withoutUsage = await gateway.chat(hello, { script: { tokens: 5, no_usage: true } });
  const zeroUsage = await gateway.chat(hello, { script: { tokens: 5, zero_usage: true } });
  await Promise.all([withoutUsage.text(), zeroUsage.text()]);
  const entries = await gateway.entries();
  const entryOf = (response: Response) =>
    entries.find((each) => each.requestId === response.headers.get("x-request-id"));
  expect(entryOf(withoutUsage)).toMatchObject({ usageSource: "estimated", outcome: "succeeded" });
  expect(entryOf(withoutUsage)?.usage.output).toBeGreaterThan(0);
  expect(entryOf(zeroUsage)).toMatchObject({ usageSource: "upstream", costNanoUsd: 0 });
});
