import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { openSocket } from "../endpoints/responses-socket/socket-gateway.ts";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";
import { type EchoUpstream, startEchoUpstream } from "./echo-upstream.ts";
import { email, secret } from "./guardrail-fixture.ts";

let echo: EchoUpstream;
let gateway: StartedGateway;

beforeAll(async () => {
  echo = startEchoUpstream();
  gateway = await startGateway({
    providers: (simulator) => [
      upstream("openai", simulator, {
        kind: "openai",
        base_url: echo.url,
        settings: { pass_through: { price_per_call: 0 } },
      }),
      upstream("anthropic", simulator, { kind: "anthropic", base_url: echo.url }),
    ],
    models: [
      { name: "gpt", deployments: [{ provider: "openai", upstream_model: "gpt-5.1" }] },
      { name: "claude", deployments: [{ provider: "anthropic", upstream_model: "claude-sonnet-5" }] },
    ],
    workspace: {
      pass_through: ["openai"],
      groups: [{ name: "default", pass_through: ["openai"] }],
      keys: [{ name: "alice", secret: aliceKey, pass_through: ["openai"] }],
    },
    guardrails: [
      { name: "keys", check: { kind: "credentials" }, action: "block" },
      { name: "mail", check: { kind: "personal_data", types: ["email"] }, action: "mask", on: ["input"] },
      { name: "words", check: { kind: "words", words: ["unspeakable"] }, action: "block", stream: "whole" },
    ],
  });
});
afterAll(async () => {
  await gateway.stop();
  echo.stop();
});
beforeEach(() => {
  echo.requests.length = 0;
  echo.pieces = null;
});

test("checks calls over a WebSocket in both directions", async () => {
  const socket = await openSocket(gateway);
  const refused = await socket.ask({ type: "response.create", model: "gpt", input: `use ${secret}` });
  expect(JSON.stringify(refused)).toContain("guardrail_blocked");
  expect(echo.requests).toEqual([]);
  echo.pieces = () => ["It is ", secret.slice(0, 8), secret.slice(8), " now"];
  const answered = await socket.ask({ type: "response.create", model: "gpt", input: "hello" });
  expect(JSON.stringify(answered)).not.toContain(secret.slice(8));
  expect(JSON.stringify(answered)).toContain("guardrail_blocked");
  echo.pieces = (body) => [/‹EMAIL_[0-9A-Z]{8}›/.exec(body)?.[0] ?? "", " is informed"];
  const masked = await socket.ask({ type: "response.create", model: "gpt", input: `mail ${email}` });
  expect(JSON.stringify(masked)).toContain(`${email} is informed`);
  expect(echo.requests.at(-1)).not.toContain(email);
  socket.close();
});

test.each([
  [
    "a known dialect",
    "/v1/providers/openai/v1/chat/completions",
    { model: "gpt-5.1", messages: [{ role: "user", content: "@" }] },
  ],
  ["an unknown one", "/v1/providers/openai/v1/threads/runs", { assistant: { deep: ["@"] } }],
])("checks what is passed through: %s", async (_title, path, body) => {
  const sent = (text: string): string => JSON.stringify(body).replace("@", text);
  const refused = await gateway.post(path, sent(secret));
  expect([refused.status, echo.requests.length]).toEqual([400, 0]);
  await (await gateway.post(path, sent(email))).text();
  expect(echo.requests).toHaveLength(1);
  expect(echo.requests[0]).toContain("‹EMAIL_");
  echo.pieces = () => [secret];
  const answered = await gateway.post(path, sent("hello"));
  expect(await answered.text()).not.toContain(secret);
});

test.each([false, true])("checks a stored answer when it is read again, streamed: %s", async (isStream) => {
  echo.pieces = () => ["fine"];
  const made = (await (await gateway.post("/v1/responses", { model: "gpt", input: "hello" })).json()) as { id: string };
  echo.pieces = () => ["It is ", secret.slice(0, 9), secret.slice(9), "."];
  const path = `/v1/responses/${made.id}${isStream ? "?stream=true" : ""}`;
  const read = await gateway.get(path, { authorization: `Bearer ${aliceKey}` });
  const text = await read.text();
  expect(text).not.toContain(secret);
  expect(text).toContain("guardrail_blocked");
});

test.each([
  ["/v1/chat/completions", "gpt", (name: string) => ({ type: "function", function: { name, parameters: {} } })],
  ["/v1/messages", "gpt", (name: string) => ({ name, input_schema: { type: "object" } })],
  ["/v1/responses", "claude", (name: string) => ({ type: "function", name, parameters: {} })],
])("checks the caller's own name of a tool, however long: %s", async (path, model, tool) => {
  const name = `${"a".repeat(60)}-${secret}`;
  const messages = [{ role: "user", content: "hi" }];
  const body = {
    model,
    max_tokens: 9,
    tools: [tool(name)],
    ...(path.endsWith("responses") ? { input: "hi" } : { messages }),
  };
  const refused = await gateway.post(path, body, { headers: { "anthropic-version": "2023-06-01" } });
  expect([refused.status, (await refused.text()).includes("guardrail")]).toEqual([400, true]);
  expect(echo.requests).toEqual([]);
});

test("sends nothing of a stream that is checked as a whole and refused at its end", async () => {
  echo.pieces = () => ["The first part, ", "the second, ", "unspeakable."];
  const body = { model: "gpt", stream: true, messages: [{ role: "user", content: "hi" }] };
  const text = await (await gateway.post("/v1/chat/completions", body)).text();
  expect(text).toContain("guardrail_blocked");
  expect(text).not.toContain("first part");
  echo.pieces = () => ["The first part, ", "the second."];
  expect(await (await gateway.post("/v1/chat/completions", body)).text()).toContain("the second");
});
