import { expect, test } from "bun:test";
import { Failure } from "#core/index.ts";
import { inSafeWords, upstreamWords } from "./upstream-refusal.ts";

test.each([
  ["Incorrect API key provided: sk-proj-****abcd1234.", "Incorrect API key provided: [hidden]"],
  ["API key AIzaSyA1234567890abcdef not valid", "API key [hidden] not valid"],
  [
    "Rate limit reached in organization org-a1B2c3D4e5 on tokens",
    "Rate limit reached in organization [hidden] on tokens",
  ],
  ["Project `proj_a1B2c3D4` has no access", "Project `[hidden]` has no access"],
  ["User: arn:aws:iam::123456789012:user/x is not authorized", "User: [hidden] is not authorized"],
  ["projects/my-project-42/locations/global is disabled", "[hidden] is disabled"],
  ["see http://vllm-7.internal:8000/v1 for more", "see [hidden] for more"],
  ["dial tcp 10.0.3.4:443: refused", "dial tcp [hidden]: refused"],
])("%p is shown as %p", (original, shown) => {
  expect(upstreamWords(original)).toBe(shown);
});

test.each([
  "This model's maximum context length is 128000 tokens. However, your messages resulted in 130,221 tokens.",
  "messages.3.content.0: tool_use ids must be unique",
  "Invalid schema for function 'get_task-list': key 'risk-level' is not allowed.",
  "Unsupported value: 'temperature' does not support 0.2 with this model.",
])("%p is shown unchanged", (original) => {
  expect(upstreamWords(original)).toBe(original);
});

test("a failure keeps everything except its hidden words", () => {
  const failure = new Failure("upstream_error", "key sk-abcdef123456 refused", { retry: "other", unhealthy: true });
  const { code, message, retry, unhealthy } = inSafeWords(failure);
  expect({ code, message, retry, unhealthy }).toEqual({
    code: "upstream_error",
    message: "key [hidden] refused",
    retry: "other",
    unhealthy: true,
  });
});
