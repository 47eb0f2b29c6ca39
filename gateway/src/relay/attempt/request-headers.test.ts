import { expect, test } from "bun:test";
import { settingsProblem } from "#providers/index.ts";
import { kindOf, providerOf } from "../../../test/provider-fixture.ts";
import { forwardedHeaders, neutralHeaders } from "./outbound.ts";

/** Headers that Claude Code, Codex and the vendors' SDKs send. */
const agents = {
  "anthropic-beta": "b-2026-01-01",
  "anthropic-dangerous-direct-browser-access": "true",
  "anthropic-version": "2023-06-01",
  conversation_id: "c",
  "idempotency-key": "k",
  "openai-beta": "responses=experimental",
  originator: "codex_cli_rs",
  session_id: "s",
  traceparent: "00-1",
  "user-agent": "agent/1",
  "x-anthropic-additional-protection": "true",
  "x-app": "cli",
  "x-claude-code-session-id": "s",
  "x-client-request-id": "r",
  "x-codex-turn-state": "t",
  "x-stainless-os": "Linux",
};

/** Headers that routers, clouds and proxies read, or that identify a caller. */
const refused: readonly (readonly [what: string, names: readonly string[]])[] = [
  [
    "credentials",
    ["authorization", "x-api-key", "api-key", "x-goog-api-key", "x-bf-vk", "cookie", "proxy-authorization", "dpop"],
  ],
  [
    "credentials of other vendors",
    ["ocp-apim-subscription-key", "x-auth-token", "x-access-token", "x-amz-security-token", "x-pw"],
  ],
  [
    "a header that chooses another account",
    [
      "openai-organization",
      "openai-project",
      "anthropic-workspace-id",
      "anthropic-organization-id",
      "x-goog-user-project",
      "chatgpt-account-id",
      "x-dashscope-workspace",
    ],
  ],
  [
    "a header that chooses another host, model or tier",
    [
      "x-portkey-custom-host",
      "x-portkey-config",
      "x-portkey-provider",
      "helicone-target-url",
      "helicone-openai-api-base",
      "x-litellm-tags",
      "x-amzn-bedrock-service-tier",
      "x-amzn-bedrock-performanceconfig-latency",
      "x-vertex-ai-llm-shared-request-type",
      "x-ms-oai-image-generation-deployment",
      "x-model",
      "x-codex-model",
      "cf-aig-custom-cost",
      "x-dashscope-async",
    ],
  ],
  [
    "a header that changes the request",
    ["x-http-method-override", "x-method-override", "x-original-url", "x-rewrite-url", "prefer", "if-none-match"],
  ],
  ["where a caller comes from", ["x-forwarded-for", "forwarded", "x-real-ip", "fastly-client-ip", "x-azure-clientip"]],
  [
    "who a caller is",
    [
      "x-ms-client-principal",
      "x-goog-authenticated-user-email",
      "x-goog-iam-authorization-token",
      "x-amzn-oidc-identity",
      "x-forwarded-user",
      "x-remote-user",
      "baggage",
    ],
  ],
  ["a header of one connection", ["connection", "te", "upgrade", "transfer-encoding", "accept-encoding", "host"]],
  ["what nobody has heard of", ["x-of-next-year"]],
];

const all = providerOf("openai-compatible");

test.each(refused)("%s is dropped, and headers of agents are passed on", (_, names) => {
  const headers = new Headers({ ...agents, ...Object.fromEntries(names.map((name) => [name, "x"])) });
  expect(forwardedHeaders(headers, all)).toEqual(agents);
});

test("a vendor gets the header families of its dialects", () => {
  const headers = new Headers({ ...agents, "x-goog-api-client": "genai", "x-grok-conv-id": "g", "x-title": "t" });
  const { "anthropic-beta": _, "anthropic-version": __, ...rest } = agents;
  const { "anthropic-dangerous-direct-browser-access": ___, "x-anthropic-additional-protection": ____, ...xai } = rest;
  expect(forwardedHeaders(headers, providerOf("xai"))).toEqual({ ...xai, "x-grok-conv-id": "g" });
  const anthropic = forwardedHeaders(headers, providerOf("anthropic"));
  expect(anthropic["anthropic-beta"]).toBe("b-2026-01-01");
  expect(anthropic["openai-beta"]).toBeUndefined();
  expect(forwardedHeaders(headers, providerOf("openrouter"))["x-title"]).toBe("t");
  expect(forwardedHeaders(headers, providerOf("vertex"))["x-goog-api-client"]).toBe("genai");
});

test("an operator adds header names and prefixes for one account, except headers that are always dropped", () => {
  const forward_headers = ["X-Of-Next-Year", "x-router-*", "x-portkey-*", "x-f*"];
  const provider = providerOf("openai", { settings: { forward_headers } });
  const headers = new Headers({
    "x-of-next-year": "1",
    "x-router-trace": "2",
    "x-portkey-trace-id": "3",
    "x-portkey-custom-host": "evil.example",
    "x-portkey-api-key": "k",
    "x-forwarded-for": "10.0.0.1",
    authorization: "Bearer x",
  });
  expect(forwardedHeaders(headers, provider)).toEqual({
    "x-of-next-year": "1",
    "x-router-trace": "2",
    "x-portkey-trace-id": "3",
  });
});

test.each([
  ["authorization", "authorization"],
  ["Cookie", "Cookie"],
  ["x-amz-*", "x-amz-*"],
  ["openai-project", "openai-project"],
  ["x-forwarded-for", "x-forwarded-for"],
  ["*", "list of header names"],
  ["x y", "list of header names"],
  [1, "list of non-empty texts"],
])("a list with %p in it is refused", (name, named) => {
  const provider = providerOf("openai", { settings: { forward_headers: ["x-fine", name] } });
  expect(settingsProblem(kindOf("openai"), provider)).toContain(named);
});

test("another vendor gets only headers with a common meaning", () => {
  const headers = new Headers({ ...agents, authorization: "Bearer x" });
  expect(neutralHeaders(headers)).toEqual({ "idempotency-key": "k", traceparent: "00-1", "x-client-request-id": "r" });
});

test("drops headers that the caller's Connection header names", () => {
  const sent = new Headers({ ...agents, connection: "Keep-Alive, X-App,originator , traceparent" });
  const { "x-app": _app, originator: _originator, traceparent: _trace, ...others } = agents;
  const passed = forwardedHeaders(sent, providerOf("anthropic"));
  for (const name of ["x-app", "originator", "traceparent", "connection"]) expect(passed).not.toHaveProperty([name]);
  expect(Object.keys(passed).length).toBeGreaterThan(5);
  for (const name of Object.keys(passed)) expect(others).toHaveProperty([name]);
  expect(neutralHeaders(sent)).not.toHaveProperty("traceparent");
});
