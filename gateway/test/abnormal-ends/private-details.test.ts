import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { aliceKey, type StartedGateway, startGateway } from "../started-gateway.ts";
import { callerCases, dialectGateway, preset, upstreamCases } from "./dialect-fixture.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(dialectGateway());
});
afterAll(() => gateway.stop());

const secrets = ["org-a1b2c3d4e5", "sk-proj-abcdefghij", "vllm-7.internal", "123456789012", "sk-upstream-of"];
const message =
  "Rate limit in organization org-a1b2c3d4e5 for key sk-proj-abcdefghij at http://vllm-7.internal:8000/v1, " +
  "arn:aws:bedrock:us-east-1:123456789012:model/x. Try again.";
const errors: Readonly<Record<string, string>> = {
  "openai-chat": JSON.stringify({ error: { message, type: "tokens", param: null, code: "rate_limit_exceeded" } }),
  "openai-responses": JSON.stringify({ error: { message, type: "tokens", param: null, code: "rate_limit_exceeded" } }),
  "anthropic-messages": JSON.stringify({ type: "error", error: { type: "rate_limit_error", message } }),
  gemini: JSON.stringify({ error: { code: 429, message, status: "RESOURCE_EXHAUSTED" } }),
  "gemini-interactions": JSON.stringify({ error: { code: "resource_exhausted", message } }),
  "bedrock-converse": JSON.stringify({ message }),
};
const shapes: Readonly<Record<string, string>> = {
  "openai-chat": "openai",
  "openai-responses": "openai",
  "anthropic-messages": "anthropic",
  gemini: "google",
  "gemini-interactions": "interactions",
  "bedrock-converse": "aws",
};
/** Upstream headers that describe the account. */
const headers = {
  "anthropic-organization-id": "org-a1b2c3d4e5",
  "anthropic-ratelimit-requests-limit": "7",
  "openai-organization": "org-a1b2c3d4e5",
  "openai-project": "proj_a1b2c3d4",
  "x-ratelimit-limit-requests": "7",
  "set-cookie": "session=1",
};

const pairs = upstreamCases
  .flatMap((upstream) => callerCases.map((caller) => [caller.id, upstream.id, caller, upstream] as const))
  .filter(([, , caller, upstream]) => shapes[caller.dialect] !== shapes[errorDialect(upstream)]);

/** Bedrock has its own error format for every model. */
function errorDialect({ id, dialect }: (typeof upstreamCases)[number]): string {
  return id === "invoke" ? "bedrock-converse" : dialect;
}

describe("translated errors and headers contain neither the upstream's account nor its address", () => {
  test.each(pairs)("an error, to a caller of %s on %s", async (_caller, _upstream, caller, upstream) => {
    const body = errors[errorDialect(upstream)] ?? "";
    preset(gateway, upstream, { status: 400, body, headers });
    const response = await caller.call(gateway, `on-${upstream.id}`);
    const received = (await response.text()) + JSON.stringify([...response.headers]);
    expect(response.status).toBe(400);
    expect(received).toContain("Try again.");
    for (const secret of [...secrets, aliceKey]) expect(received).not.toContain(secret);
  });
});

test.each(
  upstreamCases.flatMap((upstream) => callerCases.map((caller) => [caller.id, upstream.id, caller, upstream] as const)),
)("account headers do not reach a caller of %s on %s", async (_caller, _upstream, caller, upstream) => {
  for (const stream of [false, true]) {
    preset(gateway, upstream, { tokens: 1, headers });
    const response = await caller.call(gateway, `on-${upstream.id}`, { stream });
    await response.text();
    expect(response.status).toBe(200);
    for (const name of Object.keys(headers)) expect(response.headers.get(name)).toBeNull();
  }
});
