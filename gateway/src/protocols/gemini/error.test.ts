import { describe, expect, test } from "bun:test";
import { Failure } from "#core/index.ts";
import { gemini } from "./error.ts";

const { renderError: renderGeminiError, renderStreamError: renderGeminiStreamError } = gemini;
const { readRefusal: readGeminiRefusal, renderRefusal: renderGeminiRefusal } = gemini;

const bytes = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

describe("an error in Google's shape", () => {
  test.each([
    ["invalid_request", 400, "INVALID_ARGUMENT"],
    ["invalid_api_key", 401, "UNAUTHENTICATED"],
    ["budget_exceeded", 402, "RESOURCE_EXHAUSTED"],
    ["forbidden", 403, "PERMISSION_DENIED"],
    ["model_not_found", 404, "NOT_FOUND"],
    ["request_too_large", 413, "INVALID_ARGUMENT"],
    ["rate_limit_exceeded", 429, "RESOURCE_EXHAUSTED"],
    ["internal_error", 500, "INTERNAL"],
    ["upstream_error", 502, "UNAVAILABLE"],
    ["no_deployment_available", 503, "UNAVAILABLE"],
    ["upstream_timeout", 504, "DEADLINE_EXCEEDED"],
  ] as const)("turns %s into %i %s", (failureCode, code, status) => {
    const { error } = JSON.parse(renderGeminiError(new Failure(failureCode, "No."), "req_1"));
    expect(error).toMatchObject({ code, message: "No.", status });
    expect(error.details[0]).toMatchObject({ reason: failureCode.toUpperCase() });
  });

  test("names the field, the retry delay and the limit in google.rpc details", () => {
    const failure = new Failure("rate_limit_exceeded", "Slow down.", {
      param: "contents",
      retryAfterMs: 1_200,
      details: { limit: 5, scope: "key", resets_at: null },
    });
    const text = renderGeminiError(failure, "req_1");
    const { details } = JSON.parse(text).error;
    expect(details).toEqual([
      {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        reason: "RATE_LIMIT_EXCEEDED",
        domain: "sluice",
        metadata: { limit: "5", scope: "key" },
      },
      {
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        fieldViolations: [{ field: "contents", description: "Slow down." }],
      },
      { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "2s" },
      { "@type": "type.googleapis.com/google.rpc.RequestInfo", requestId: "req_1" },
    ]);
  });

  test("writes the same body as a data line within a stream", () => {
    const failure = new Failure("upstream_truncated", "Edit.");
    expect(renderGeminiStreamError(failure, "r")).toBe(`data: ${renderGeminiError(failure, "r")}\n\n`);
  });
});

describe("reading an error in Google's shape", () => {
  test("reads the message and the most specific code, also from an array", () => {
    const error = {
      code: 400,
      message: "API key not valid.",
      status: "INVALID_ARGUMENT",
      details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" }],
    };
    const expected = { status: 400, message: "API key not valid.", code: "API_KEY_INVALID", contextLength: false };
    expect(readGeminiRefusal(400, bytes({ error }))).toEqual(expected);
    expect(readGeminiRefusal(400, bytes([{ error }]))).toEqual(expected);
  });

  test.each([
    ["The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).", true],
    ["Unable to submit request because the input token count is 2000000 but model only supports up to 1048576.", true],
    ["prompt is too long: 205000 tokens > 200000 maximum", true],
    ["The tool name exceeds the maximum length.", false],
  ])("reads %j as about the prompt's length: %p", (message, contextLength) => {
    expect(readGeminiRefusal(400, bytes({ error: { code: 400, message } })).contextLength).toBe(contextLength);
  });

  test("accepts an error body of any shape", () => {
    expect(readGeminiRefusal(404, new TextEncoder().encode("<html>"))).toEqual({
      status: 404,
      message: "HTTP status 404",
      code: null,
      contextLength: false,
    });
  });

  test("keeps another vendor's status, and uses Gemini's message for a prompt that is too long", () => {
    const refusal = { status: 400, message: "prompt is too long", code: null, contextLength: true };
    const written = bytes(JSON.parse(renderGeminiRefusal(refusal, "r")));
    expect(readGeminiRefusal(400, written)).toMatchObject({ contextLength: true });
    expect(new TextDecoder().decode(written)).toContain("prompt is too long");
    expect(JSON.parse(renderGeminiRefusal({ ...refusal, status: 529, contextLength: false }, "r")).error).toEqual({
      code: 529,
      message: "prompt is too long",
      status: "UNAVAILABLE",
      details: [{ "@type": "type.googleapis.com/google.rpc.RequestInfo", requestId: "r" }],
    });
  });
});
