import { describe, expect, test } from "bun:test";
import { Failure } from "#core/index.ts";
import { anthropicMessages as dialect } from "./index.ts";

const bytes = (value: unknown): Uint8Array =>
  new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));

describe("writing errors for Messages callers", () => {
  test("writes Anthropic's shape with the request id and the limit's details", () => {
    const failure = new Failure("rate_limit_exceeded", "Slow down.", {
      details: { limit: 60, scope: "key", resets_at: 9 },
    });
    expect(JSON.parse(dialect.renderError(failure, "req_1"))).toEqual({
      type: "error",
      error: { type: "rate_limit_error", message: "Slow down.", limit: 60, scope: "key", resets_at: 9 },
      request_id: "req_1",
    });
  });

  test("writes an error event within a stream", () => {
    const failure = new Failure("upstream_truncated", "Edit.\nOff");
    const text = dialect.renderStreamError(failure, "req_1");
    expect(text).toBe(`event: error\ndata: ${dialect.renderError(failure, "req_1")}\n\n`);
    expect(text.split("\n")).toHaveLength(4);
  });

  test("writes a ping to keep a silent stream open", () => {
    expect(dialect.keepAlive).toBe('event: ping\ndata: {"type":"ping"}\n\n');
  });

  test("writes limit headers with the time of the reset", () => {
    const now = Date.UTC(2026, 1, 1, 12, 0, 0, 250);
    const out: Record<string, string> = {};
    dialect.addLimitHeaders(out, "tokens", { limit: 1_000, used: 993, freeInMs: 1_000 }, now);
    expect(out).toEqual({
      "anthropic-ratelimit-tokens-limit": "1000",
      "anthropic-ratelimit-tokens-remaining": "7",
      "anthropic-ratelimit-tokens-reset": "2026-02-01T12:00:02Z",
    });
  });
});

describe("reading an upstream error", () => {
  test("reads Anthropic's error body", () => {
    const body = { type: "error", error: { type: "invalid_request_error", message: "max_tokens: too large" } };
    expect(dialect.readRefusal(400, bytes(body))).toEqual({
      status: 400,
      message: "max_tokens: too large",
      code: "invalid_request_error",
      contextLength: false,
    });
  });

  test.each([
    ["prompt is too long: 208310 tokens > 200000 maximum", true],
    ["input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000", true],
    ["messages: roles must alternate", false],
  ])("reads %s as a context length error: %p", (message, contextLength) => {
    const body = { type: "error", error: { type: "invalid_request_error", message } };
    expect(dialect.readRefusal(400, bytes(body)).contextLength).toBe(contextLength);
  });

  test.each([["<html>no</html>"], [""], ["[]"], [{ error: "no" }]])(
    "uses only the status if the body is %j",
    (body) => {
      expect(dialect.readRefusal(413, bytes(body))).toEqual({
        status: 413,
        message: "The upstream refused the request with status 413.",
        code: null,
        contextLength: false,
      });
    },
  );

  const rendered = (status: number, message = "No.", contextLength = false): unknown =>
    JSON.parse(dialect.renderRefusal({ status, message, code: null, contextLength }, "req_2"));

  test.each([
    [400, "invalid_request_error"],
    [401, "authentication_error"],
    [402, "billing_error"],
    [403, "permission_error"],
    [404, "not_found_error"],
    [409, "conflict_error"],
    [413, "request_too_large"],
    [422, "invalid_request_error"],
    [429, "rate_limit_error"],
    [500, "api_error"],
    [502, "api_error"],
    [503, "overloaded_error"],
    [529, "overloaded_error"],
  ])("turns status %d of another vendor into %s", (status, type) => {
    expect(rendered(status)).toEqual({ type: "error", error: { type, message: "No." }, request_id: "req_2" });
  });

  test.each([
    [
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 130,512 tokens.",
      /^prompt is too long: 130512 tokens > 128000 maximum\. This model's/,
    ],
    [
      "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
      /^prompt is too long: 1200000 tokens > 1048576 maximum\./,
    ],
    ["Your input exceeds the context window of gpt-4-20250101.", /^prompt is too long: Your input/],
    ["Prompt is too long: 5 > 4", /^Prompt is too long: 5 > 4$/],
  ])("uses the message that Claude Code expects for a prompt that is too long", (message, wording) => {
    expect(rendered(400, message, true)).toMatchObject({ error: { message: expect.stringMatching(wording) } });
  });
});
