import { expect, test } from "bun:test";
import { Failure, maskSecrets, Secret } from "#core/index.ts";
import { isSecretHeader, isShownHeader, redacted } from "./index.ts";

const canary = "c4nary-v4lue";

test.each([
  "authorization",
  "Authorization",
  "proxy-authorization",
  "x-api-key",
  "api_key",
  "apiKey",
  "keySecret",
  "secret",
  "secret_access_key",
  "aws_access_key",
  "password",
  "cookie",
  "set-cookie",
  "access_token",
  "masterKey",
])("hides a field named %s at any depth", (name) => {
  const shown = JSON.stringify(redacted({ [name]: canary, a: [{ b: { [name]: { c: canary } } }] }));
  expect(shown).not.toContain(canary);
  expect(shown).toContain("[redacted]");
});

test.each([
  "the key sk-c4nary-v4lue was refused",
  "sk-ant-api03-c4nary-v4lue",
  "authorization: Bearer c4nary-v4lue",
  "postgres://sluice:c4nary-v4lue@db.example/sluice",
  "https://upstream.example/v1?key=c4nary-v4lue&x=1",
])("masks credentials inside texts: %s", (text) => {
  const shown = [redacted(text), redacted({ note: text }), redacted(new Error(text))];
  expect(JSON.stringify(shown)).not.toContain(canary);
});

test("hides a Secret everywhere", () => {
  const secret = new Secret(canary);
  expect(JSON.stringify(redacted({ value: secret, list: [secret], map: new Map([["k", secret]]) }))).not.toContain(
    canary,
  );
});

test("shows ordinary values, including counts of tokens", () => {
  const fields = { model: "risk-model", tokens: 12, input_tokens: 3, healthy: true, nothing: null };
  expect(redacted(fields)).toEqual(fields);
});

test("shows a Failure without its stack and with its cause; other errors with their stack", () => {
  const failure = new Failure("upstream_unreachable", "No.", { cause: new Error("ECONNREFUSED 192.0.2.1") });
  const shown = redacted(failure);
  expect(shown).toMatchObject({
    code: "upstream_unreachable",
    message: "No.",
    cause: { message: "ECONNREFUSED 192.0.2.1" },
  });
  expect(shown).not.toHaveProperty("stack");
  expect(redacted(new TypeError("x"))).toHaveProperty("stack");
});

test("limits cycles, many members and long texts", () => {
  const cycle: Record<string, unknown> = {
    crowd: Array.from({ length: 10_000 }, (_, i) => i),
    flood: "x".repeat(1_000_000),
  };
  cycle["self"] = cycle;
  expect(JSON.stringify(redacted(cycle)).length).toBeLessThan(40_000);
});

test("recognizes headers with credentials by name, and keeps those about limits and retries", () => {
  const hidden = [
    "Authorization",
    "x-api-key",
    "ocp-apim-subscription-key",
    "x-functions-key",
    "x-bf-vk",
    "Cookie",
    "set-cookie",
  ];
  const jwt = [
    "cf-access-jwt-assertion",
    "x-amz-security-token",
    "x-hub-signature",
    "x-auth",
    "x-client-cert",
    "dpop",
    "x-pw",
    "x-session-id",
  ];
  const limits = ["x-ratelimit-remaining-tokens"];
  const shown = ["content-type", "user-agent", "idempotency-key", "x-sluice-session", "anthropic-version", ...limits];
  expect([...hidden, ...jwt].filter((name) => !isSecretHeader(name))).toEqual([]);
  expect(shown.filter(isSecretHeader)).toEqual([]);
});

test.each([
  "ghp_c4naryv4luec4naryv4luec4naryv4lue1234",
  "github_pat_11ABCDEFG0c4naryv4luec4naryv4lue",
  "glpat-c4naryv4luec4naryv4",
  "xoxb-123456789012-c4naryv4lue",
  "SG.c4naryv4luec4naryv4.c4naryv4luec4naryv4lue",
  "npm_c4naryv4luec4naryv4luec4naryv4lue1234",
  "sk_live_c4naryv4luec4nary",
  "eyJhbGciOiJIUzI1NiJ9.c4naryv4luec4nary.c4naryv4lue",
  "-----BEGIN RSA PRIVATE KEY-----\nc4naryv4luec4naryv4lue\n-----END RSA PRIVATE KEY-----",
  "-----BEGIN PRIVATE KEY-----\\nc4naryv4luec4naryv4lue\\n-----END PRIVATE KEY-----\\n",
  "-----BEGIN OPENSSH PRIVATE KEY-----\nc4naryv4luec4naryv4lueAAAA",
])("recognizes a credential by its form: %p", (secret) => {
  const shown = maskSecrets(`before ${secret} behind, and words`);
  expect(shown).not.toContain("c4nary");
  expect(shown).toStartWith("before ");
  expect(shown).toEndWith(" behind, and words");
});

test.each([
  ['{"api_key": "c4nary", "model": "m"}', '{"api_key": "[redacted]", "model": "m"}'],
  ['{"openai-api-key":"c4\\"nary","n":1}', '{"openai-api-key":"[redacted]","n":1}'],
  ['{"dbPassword":"c4nary', '{"dbPassword":"[redacted]'],
  [
    '{"arguments":"{\\"client_secret\\": \\"c4nary\\", \\"q\\": 1}"}',
    '{"arguments":"{\\"client_secret\\": \\"[redacted]\\", \\"q\\": 1}"}',
  ],
  ["user=ada&password=c4nary&x=1", "user=ada&password=[redacted]&x=1"],
  ["PGPASSWORD=c4nary psql", "PGPASSWORD=[redacted] psql"],
])("hides a member or field whose name says that it is secret: %s", (text, shown) => {
  expect(maskSecrets(text)).toBe(shown);
});

test("keeps members with similar names", () => {
  const text =
    '{"max_tokens":"9","token":"Hello","logprobs":[{"token":" a"}],"password":{"type":"string"},"secretary":"Eve","q":"a=b"}';
  expect(maskSecrets(text)).toBe(text);
});

test("shows only the names of unknown headers", () => {
  const known = ["content-type", "User-Agent", "anthropic-beta", "x-stainless-os", "x-ratelimit-limit-requests"];
  expect(known.filter((name) => !isShownHeader(name))).toEqual([]);
  expect(["x-my-own", "x-pw", "dpop", "x-session-id", "x-amz-date", "session_id"].filter(isShownHeader)).toEqual([]);
});

test("masks all of a long text, and keeps other content", () => {
  const text = `{"url":"https://host:8080","email":"a@b.test","said":"${"words ".repeat(2_000)}"}`;
  expect(maskSecrets(text)).toBe(text);
  expect(maskSecrets(`${text} sk-proj-c4nary-v4lue ya29.c4nary-v4lue-c4nary gsk_c4naryv4luec4nary`)).toBe(
    `${text} sk-[redacted] [redacted] [redacted]`,
  );
});
