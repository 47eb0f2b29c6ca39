import { describe, expect, test } from "bun:test";
import { defaultTimeouts, type Provider, Secret } from "#core/index.ts";
import { providerKind, providerKinds } from "./kinds.ts";
import { readRetryAfter } from "./retry-after.ts";

const provider: Provider = {
  id: "p",
  kind: "openai",
  baseUrl: "https://upstream.example/v1",
  secret: new Secret("sk-upstream"),
  allowPrivateNetwork: false,
  timeouts: defaultTimeouts,
  disconnect: "cancel",
  settings: {},
  enabled: true,
};
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe.each(providerKinds.map((kind) => [kind.id, kind] as const))("provider kind %s", (id, kind) => {
  const classify = (status: number, body = "{}", headers: Record<string, string> = {}) =>
    kind.classify({ status, headers: new Headers(headers), body: bytes(body), now: 1_000_000 });

  test("is found by its id and has the same shape as every other", () => {
    expect(providerKind(id)).toBe(kind);
    expect(kind.title.length).toBeGreaterThan(0);
    expect(kind.baseUrl === null || /^(https|demo):\/\/[^/]+(\/.*[^/])?$/.test(kind.baseUrl)).toBe(true);
    expect(Object.values(kind.lanes).every((lane) => lane.path.startsWith("/"))).toBe(true);
    expect(kind.starterModels.every((model) => model.input >= 0 && model.output >= model.input)).toBe(true);
  });

  test("sends the account's secret in a header and nowhere else", () => {
    const headers: Record<string, string> = {};
    kind.authorize(provider, headers);
    expect(Object.values(headers).join()).toContain("sk-upstream");
  });

  test("gives a caller's own mistakes back as the upstream said them, and never retries them", () => {
    for (const status of [400, 413, 422]) {
      const failure = classify(status, '{"error":{"message":"bad"}}', { "content-type": "application/json" });
      expect(failure.retry).toBe("never");
      expect(failure.upstream?.status).toBe(status);
      expect(failure.unwell).toBe(false);
    }
  });

  test("never shows an upstream's 401 to the caller: it is about the gateway's credential", () => {
    const failure = classify(401, '{"error":{"message":"Incorrect API key provided: sk-up***"}}');
    expect(failure.upstream).toBeUndefined();
    expect(failure.status).toBe(502);
    expect(failure.retry).toBe("other");
  });

  test("counts an upstream's own trouble against it and tries again", () => {
    for (const status of [500, 502, 503, 529]) {
      expect(classify(status)).toMatchObject({ unwell: true, retry: "same", status: 502 });
    }
  });

  test("waits as long as a 429 asks, and not at all for a spent quota", () => {
    expect(classify(429, "{}", { "retry-after": "3" })).toMatchObject({
      retry: "same",
      retryAfterMs: 3_000,
      unwell: false,
    });
    expect(classify(429, '{"error":{"code":"insufficient_quota"}}').retry).toBe("other");
  });
});

describe("a Retry-After", () => {
  test.each([
    [{ "retry-after": "2" }, 2_000],
    [{ "retry-after": "0.5" }, 500],
    [{ "retry-after-ms": "120", "retry-after": "9" }, 120],
    [{ "retry-after": "Thu, 01 Jan 1970 00:16:50 GMT" }, 10_000],
    [{ "retry-after": "Thu, 01 Jan 1970 00:00:00 GMT" }, 0],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after": "-4" }, undefined],
    [{}, undefined],
  ])("of %j is read as %p milliseconds", (headers, expected) => {
    expect(readRetryAfter(new Headers(headers as Record<string, string>), 1_000_000)).toBe(expected as number);
  });
});
