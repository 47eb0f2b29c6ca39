import { describe, expect, test } from "bun:test";
import type { Failure } from "#core/index.ts";
import { bytes, draftOf, kindOf, now, options, providerOf, secretText } from "../../test/provider-fixture.ts";
import { readRetryAfter } from "./classify-by-status.ts";
import { settingsProblem } from "./kind-form.ts";
import { providerKind, providerKinds } from "./kinds.ts";
import { laneUrl } from "./lanes.ts";

/** Kinds whose account is a pair of keys in its settings sign with them; all others send the secret itself. */
const families: Readonly<Record<string, "anthropic" | "google" | "aws">> = {
  anthropic: "anthropic",
  gemini: "google",
  vertex: "google",
  bedrock: "aws",
};

describe.each(providerKinds.map((kind) => [kind.id, kind] as const))("provider type %s", (id, kind) => {
  const provider = providerOf(id);
  const family = families[id] ?? "openai";
  const classify = (status: number, body = "{}", headers: Record<string, string> = {}): Failure =>
    kind.classify({ status, headers: new Headers(headers), body: bytes(body), now: 1_000_000 });

  test("can be found by its id and accepts valid settings", () => {
    expect(providerKind(id)).toBe(kind);
    expect(kind.title.length).toBeGreaterThan(0);
    expect(kind.baseUrl === null || /^(https|demo|http):\/\/[^/]+(\/.*[^/])?$/.test(kind.baseUrl)).toBe(true);
    // A provider from environment variables must work without further settings.
    if (kind.envKey !== null) expect(kind.baseUrl).not.toBeNull();
    expect(settingsProblem(kind, provider)).toBeNull();
  });

  test("has a video adapter or lanes, at most one per endpoint and model", () => {
    for (const model of ["m", "claude-sonnet-4-5", "anthropic.claude-sonnet-4-5-v1:0"]) {
      const endpoints = kind.lanes.filter((lane) => lane.fits?.(model) ?? true).map((lane) => lane.endpoint);
      expect(endpoints.length > 0 || kind.video !== undefined).toBe(true);
      expect(new Set(endpoints).size).toBe(endpoints.length);
    }
    expect(kind.lanes.every((lane) => lane.path.startsWith("/"))).toBe(true);
    expect(kind.lanes.every((lane) => lane.streamPath?.startsWith("/") ?? true)).toBe(true);
  });

  test("puts a model's whole name into one segment of the path", () => {
    const model = "a/b:c?d#e{model}";
    for (const lane of kind.lanes) {
      const url = new URL(laneUrl(provider, lane, model, true));
      const named = (lane.streamPath ?? lane.path).includes("{model}");
      if (named) expect(url.pathname).toContain("/a%2Fb%3Ac%3Fd%23e%7Bmodel%7D");
      expect(url.hash).toBe("");
      expect(url.pathname).not.toContain("//");
    }
  });

  test("sends the account's credential in headers and nowhere else", async () => {
    for (const lane of kind.lanes) {
      const draft = draftOf(provider, lane, "m", { model: "m" });
      lane.adjust?.(draft);
      await kind.authorize(draft, options);
      expect(Object.values(draft.headers).join()).toContain(secretText);
      expect(draft.url).not.toContain(secretText);
      expect(new TextDecoder().decode(draft.body ?? new Uint8Array(0))).not.toContain(secretText);
    }
  });

  test("returns a caller's errors unchanged and does not retry them", () => {
    for (const status of [400, 413, 422]) {
      const failure = classify(status, '{"error":{"message":"bad"}}', { "content-type": "application/json" });
      expect(failure.retry).toBe("never");
      expect(failure.upstream?.status).toBe(status);
      expect(failure.unhealthy).toBe(false);
    }
  });

  test("hides errors about the account's credential, and never quotes the upstream", () => {
    const body = `{"message":"key ${secretText}","error":{"message":"Incorrect API key provided: ${secretText}"}}`;
    const hidden = family === "openai" ? [401, 402] : [401, 402, 403];
    for (const status of hidden) {
      const failure = classify(status, body);
      expect(failure.upstream).toBeUndefined();
      expect(failure).toMatchObject({ status: 502, retry: "other", unhealthy: true });
    }
    for (const status of [300, 400, 401, 402, 403, 404, 408, 409, 413, 429, 500, 529]) {
      expect(classify(status, body).message).not.toContain(secretText);
    }
  });

  test("retries server errors and marks the upstream unhealthy", () => {
    for (const status of [500, 502, 503, 529]) {
      expect(classify(status)).toMatchObject({ unhealthy: true, retry: "same", status: 502 });
    }
  });

  test("tries another deployment for a missing model, and reads Retry-After of a 429", () => {
    expect(classify(404)).toMatchObject({ retry: "other", unhealthy: false });
    expect(classify(429, "{}", { "retry-after": "3" })).toMatchObject({
      retry: "same",
      retryAfterMs: 3_000,
      unhealthy: false,
    });
  });

  test("accepts an error body of any shape", () => {
    for (const body of [
      "",
      "<html>",
      "[]",
      "null",
      '"x"',
      '{"error":"x"}',
      '[{"error":null}]',
      '{"error":{"details":[1]}}',
    ]) {
      for (const status of [400, 403, 429, 500]) expect(classify(status, body).code).toBe("upstream_error");
    }
  });
});

describe("vendor error codes", () => {
  const classify = (kind: string, status: number, body: unknown, headers: Record<string, string> = {}): Failure =>
    kindOf(kind).classify({ status, headers: new Headers(headers), body: bytes(JSON.stringify(body)), now });

  test("tries another account when the quota of an OpenAI-compatible API is exhausted", () => {
    expect(classify("openai", 429, { error: { code: "insufficient_quota" } }).retry).toBe("other");
    expect(classify("moonshot", 429, { error: { type: "exceeded_current_quota_error" } }).retry).toBe("other");
    expect(classify("zhipu", 429, { error: { code: "1113" } }).retry).toBe("other");
    expect(classify("dashscope", 400, { error: { code: "Arrearage" } }).upstream).toBeUndefined();
  });

  test.each([
    ["openai", 429, {}, "now"],
    ["openai", 404, { code: "model_not_found", param: null }, "now"],
    ["openai", 403, { code: "model_not_found", param: "model" }, "now"],
    ["azure-openai", 404, { code: "DeploymentNotFound" }, "now"],
    ["ark", 404, { code: "ModelNotOpen" }, "now"],
    ["openai", 404, { code: "model_not_found", param: "tools[0].model" }, "once_served_elsewhere"],
    ["openai", 404, { code: "not_found" }, "once_served_elsewhere"],
    ["openai", 404, {}, "once_served_elsewhere"],
    ["openai", 403, {}, "once_served_elsewhere"],
    ["openai", 400, { code: "context_length_exceeded" }, "never"],
    ["anthropic", 404, { type: "not_found_error" }, "once_served_elsewhere"],
    ["gemini", 404, { status: "NOT_FOUND" }, "once_served_elsewhere"],
  ] as const)("sets when a deployment of %s cools down after %i %j: %p", (kind, status, error, cools) => {
    expect(classify(kind, status, { error })).toMatchObject({ cools, unhealthy: false });
  });

  test.each(["invalid_encrypted_content", "previous_response_not_found"])(
    "tries another OpenAI account for %s, and keeps the error for the caller",
    (code) => {
      for (const status of [400, 404]) {
        expect(classify("openai", status, { error: { code } })).toMatchObject({
          retry: "other",
          unhealthy: false,
          upstream: { status },
        });
      }
    },
  );

  test("does not retry a prompt that Azure's content filter rejected", () => {
    const failure = classify("azure-openai", 400, { error: { code: "content_filter", message: "filtered" } });
    expect(failure).toMatchObject({ retry: "never", unhealthy: false, upstream: { status: 400 } });
  });

  test("hides Anthropic's billing error from the caller", () => {
    expect(classify("anthropic", 400, { type: "error", error: { type: "billing_error" } }).upstream).toBeUndefined();
  });

  test("reads invalid keys, retry delays and daily quotas from Google's error details", () => {
    const google = (code: number, status: string, details: unknown[]) => ({
      error: { code, status, message: "m", details },
    });
    const wrongKey = google(400, "INVALID_ARGUMENT", [{ reason: "API_KEY_INVALID" }]);
    expect(classify("gemini", 400, wrongKey)).toMatchObject({ retry: "other", unhealthy: true, upstream: undefined });
    expect(classify("gemini", 400, [wrongKey]).upstream).toBeUndefined();
    const wait = google(429, "RESOURCE_EXHAUSTED", [{ "@type": "…RetryInfo", retryDelay: "34.5s" }]);
    expect(classify("gemini", 429, wait)).toMatchObject({ retry: "same", retryAfterMs: 34_500 });
    const day = google(429, "RESOURCE_EXHAUSTED", [{ violations: [{ quotaId: "GenerateRequestsPerDayPerProject" }] }]);
    expect(classify("vertex", 429, day).retry).toBe("other");
    expect(classify("gemini", 400, google(400, "FAILED_PRECONDITION", []))).toMatchObject({ retry: "other" });
  });

  test("reads AWS error codes from the response header", () => {
    const aws = (status: number, type: string) =>
      classify("bedrock", status, { message: "m" }, { "x-amzn-errortype": type });
    expect(aws(429, "ThrottlingException:http://internal.amazon.com/")).toMatchObject({
      retry: "same",
      unhealthy: false,
    });
    expect(aws(400, "ValidationException")).toMatchObject({ retry: "never", upstream: { status: 400 } });
    expect(aws(400, "ExpiredTokenException")).toMatchObject({ retry: "other", unhealthy: true, upstream: undefined });
    expect(aws(400, "com.amazon.coral.service#ServiceQuotaExceededException").retry).toBe("other");
    expect(aws(424, "ModelErrorException").retry).toBe("other");
    expect(aws(404, "ResourceNotFoundException").retry).toBe("other");
  });
});

describe("Retry-After headers", () => {
  test.each([
    [{ "retry-after": "2" }, 2_000],
    [{ "retry-after": "0.5" }, 500],
    [{ "retry-after-ms": "120", "retry-after": "9" }, 120],
    [{ "retry-after": "Thu, 01 Jan 1970 00:16:50 GMT" }, 10_000],
    [{ "retry-after": "Thu, 01 Jan 1970 00:00:00 GMT" }, 0],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after": "-4" }, undefined],
    [{ "retry-after": "30, 30" }, 30_000],
    [{ "retry-after-ms": "", "retry-after": "9" }, 9_000],
    [{ "retry-after": "9".repeat(30) }, 604_800_000],
    [{ "retry-after-ms": "1000000000000000000000" }, 604_800_000],
    [{ "retry-after": "Fri, 31 Dec 9999 23:59:59 GMT" }, 604_800_000],
    [{}, undefined],
  ])("reads %j as %p milliseconds", (headers, expected) => {
    expect(readRetryAfter(new Headers(headers as Record<string, string>), 1_000_000)).toBe(expected as number);
  });
});
