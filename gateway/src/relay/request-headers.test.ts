import { expect, test } from "bun:test";
import { forwardedHeaders, neutralHeaders } from "./request-headers.ts";

const passed = {
  "anthropic-beta": "b-2026-01-01",
  "anthropic-version": "2023-06-01",
  "user-agent": "agent/1",
  "x-claude-code-session-id": "s",
  "x-of-next-year": "1",
  "x-stainless-os": "Linux",
};

test.each([
  ["credentials", ["authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie", "proxy-authorization"]],
  [
    "credentials of other houses",
    ["ocp-apim-subscription-key", "x-auth-token", "x-access-token", "x-amz-security-token"],
  ],
  ["what would choose another account", ["openai-organization", "openai-project", "x-goog-user-project"]],
  [
    "what would make another request",
    ["x-http-method-override", "x-method-override", "x-original-url", "x-rewrite-url"],
  ],
  ["where a caller comes from", ["x-forwarded-for", "forwarded", "x-real-ip", "fastly-client-ip", "x-azure-clientip"]],
  ["who a caller is", ["x-ms-client-principal", "x-goog-authenticated-user-email", "x-goog-iam-authorization-token"]],
  ["what belongs to one connection", ["connection", "te", "upgrade", "transfer-encoding", "accept-encoding", "host"]],
])("%s stays here, while everything else goes on", (_, names) => {
  const headers = new Headers({ ...passed, ...Object.fromEntries(names.map((name) => [name, "x"])) });
  expect(forwardedHeaders(headers)).toEqual(passed);
});

test("to another vendor goes only what means the same to all", () => {
  const headers = new Headers({ ...passed, authorization: "Bearer x", "idempotency-key": "k", traceparent: "00-1" });
  expect(neutralHeaders(headers)).toEqual({ "idempotency-key": "k", traceparent: "00-1" });
});
