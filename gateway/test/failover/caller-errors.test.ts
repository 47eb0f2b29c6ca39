import { describe, expect, test } from "bun:test";
import { answers, type Behavior, callOnce, chatOf, refuses, startAccounts } from "./accounts.ts";

const forbidden: Behavior = () =>
  Response.json(
    { error: { code: 403, message: "No permission to access the file.", status: "PERMISSION_DENIED" } },
    { status: 403 },
  );

/** The number of ten later calls that reach the first account. */
async function laterCallsToFirst(
  refusals: readonly [Behavior, Behavior],
  body: object,
  kind?: string,
): Promise<number> {
  const current = { behaviors: refusals };
  await using running = await startAccounts({
    behaviors: [(...call) => current.behaviors[0](...call), (...call) => current.behaviors[1](...call)],
    ...(kind === undefined ? {} : { kind }),
  });
  const { gateway, accounts } = running;
  for (let call = 0; call < 8; call++) await callOnce(gateway, body);
  current.behaviors = [answers, answers];
  const before = accounts[0]?.bodies.length ?? 0;
  for (let call = 0; call < 10; call++) await callOnce(gateway, chatOf());
  return (accounts[0]?.bodies.length ?? 0) - before;
}

describe("sends other callers' calls to the first account after a caller was refused for", () => {
  const byBoth = (refusal: Behavior): readonly [Behavior, Behavior] => [refusal, refusal];
  const refusals: readonly [string, readonly [Behavior, Behavior], object, string?][] = [
    ["content that is not allowed", byBoth(refuses(403, "content_policy_violation")), chatOf()],
    ["a missing object", byBoth(refuses(404, "not_found")), chatOf()],
    ["a bad request", byBoth(refuses(400, "unknown_model")), chatOf()],
    ["a bad request, with Retry-After", [refuses(400, null, { "retry-after": "30" }), answers], chatOf()],
    ["a conflict, with Retry-After", [refuses(409, null, { "retry-after": "30" }), answers], chatOf()],
    ["a file of another project", [forbidden, answers], chatOf("m", { messages: withFile() }), "gemini"],
  ];
  for (const [title, both, body, kind] of refusals) {
    test(title, async () => expect(await laterCallsToFirst(both, body, kind)).toBe(10));
  }
});

test("answers that cannot be translated for some callers do not disable a deployment for others", async () => {
  const part = { inlineData: { mimeType: "audio/L16", data: "AAAA" } };
  const sound = { candidates: [{ content: { parts: [part], role: "model" }, finishReason: "STOP" }] };
  const text = { candidates: [{ content: { parts: [{ text: "ok" }], role: "model" }, finishReason: "STOP" }] };
  const current = { answer: sound as object };
  const returnsCurrent: Behavior = () => Response.json(current.answer);
  await using running = await startAccounts({
    kind: "gemini",
    behaviors: [returnsCurrent, returnsCurrent],
    root: "/v1beta",
  });
  const { gateway, accounts } = running;
  const messages = { ...chatOf(), max_tokens: 9 };
  for (let call = 0; call < 8; call++) {
    expect((await gateway.post("/v1/messages", messages, versioned)).status).toBe(502);
  }
  current.answer = text;
  const before = accounts[0]?.bodies.length ?? 0;
  const generate = { contents: [{ role: "user", parts: [{ text: "hello" }] }] };
  for (let call = 0; call < 10; call++) {
    expect((await gateway.post("/v1beta/models/m:generateContent", generate)).status).toBe(200);
  }
  expect((accounts[0]?.bodies.length ?? 0) - before).toBe(10);
});

const versioned = { headers: { "anthropic-version": "2023-06-01" } };

function withFile(): readonly object[] {
  return [{ role: "user", content: [{ type: "file", file: { file_id: "file-0123456789" } }] }];
}
