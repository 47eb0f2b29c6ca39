import { expect, test } from "bun:test";
import type { GuardrailSide } from "@sluice/contract/words";
import { Failure, type Guardrail, type WireDialectId } from "#core/index.ts";
import { CallGuard, type CallGuardOptions } from "./call-guard.ts";
import type { CheckRecord } from "./check-record.ts";
import { inspectBody } from "./inspect-body.ts";
import { policyFor } from "./policy.ts";

const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

function guardrail(action: Guardrail["action"], more: Partial<Guardrail> = {}): Guardrail {
  return {
    ...{ id: "grl_1", name: "keys", workspaceId: null, workspaces: [], groups: [], keys: [], on: ["input", "output"] },
    ...{ at: null, check: { kind: "credentials" }, action, onError: "block", unreadable: "pass", stream: "window" },
    ...{ timeoutMs: 2_000, enforce: true },
    ...more,
  };
}

function guardOf(checked: Guardrail, more: Partial<CallGuardOptions> = {}) {
  const records: CheckRecord[] = [];
  const guard = new CallGuard({
    policy: policyFor([checked]),
    secret: () => "secret",
    nowMs: () => 0,
    cpuMs: () => 0,
    checkMsMax: () => 20,
    remote: () => Promise.reject(new Error("nothing is asked")),
    inspectLarge: (ask, body) => Promise.resolve({ body, outcome: inspectBody(body, ask) }),
    onRecords: (added) => void records.push(...added),
    ...more,
  });
  return { guard, records };
}

/** Each reading is 15 ms later. */
function slowCpu(): () => number {
  let nowMs = 0;
  return () => (nowMs += 15);
}

const png = "iVBORw0KGgo=";

/** Requests with every kind of part that the vendors' SDKs know. */
const requests: Partial<Record<WireDialectId, object>> = {
  "openai-chat": {
    model: "m",
    messages: [
      { role: "system", content: "s", name: "n" },
      {
        role: "user",
        content: [
          { type: "text", text: "t" },
          { type: "image_url", image_url: { url: "https://example.com/a.png", detail: "high" } },
          { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } },
          { type: "file", file: { filename: "f", file_id: "i" } },
          { type: "input_audio", input_audio: { data: png, format: "wav" } },
        ],
      },
      {
        role: "assistant",
        content: null,
        refusal: "r",
        tool_calls: [
          { id: "c", type: "function", function: { name: "f", arguments: '{"a":"x","b":[1]}' } },
          { id: "d", type: "custom", custom: { name: "f", input: "x" } },
        ],
        reasoning_content: "r",
      },
      { role: "tool", tool_call_id: "c", content: "result" },
    ],
    tools: [{ type: "function", function: { name: "f", description: "d", parameters: { enum: ["e"] } } }],
    response_format: { type: "json_schema", json_schema: { name: "n", description: "d", schema: { const: "c" } } },
    prediction: { type: "content", content: "p" },
    stop: ["x"],
    metadata: { k: "v" },
    user: "u",
    safety_identifier: "s",
    prompt_cache_key: "k",
    unknown_member: { nested: ["u"] },
  },
  "anthropic-messages": {
    model: "m",
    system: [{ type: "text", text: "s", cache_control: { type: "ephemeral" } }],
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "t", citations: [{ type: "char_location", cited_text: "c", document_title: "t" }] },
          { type: "image", source: { type: "base64", media_type: "image/png", data: png } },
          { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
          { type: "document", title: "t", context: "c", source: { type: "text", media_type: "text/plain", data: "d" } },
          { type: "search_result", title: "t", source: "s", content: [{ type: "text", text: "t" }] },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "t", signature: png },
          { type: "redacted_thinking", data: png },
          { type: "tool_use", id: "i", name: "n", input: { a: ["x"], b: { c: "y" } } },
        ],
      },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "i", content: [{ type: "text", text: "t" }] }],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "i", content: "text" }] },
    ],
    tools: [{ name: "n", description: "d", input_schema: { description: "d" }, input_examples: [{ a: "x" }] }],
    metadata: { user_id: "u" },
    stop_sequences: ["s"],
    mcp_servers: [{ type: "url", url: "https://example.com", name: "n" }],
  },
  "openai-responses": {
    model: "m",
    instructions: "i",
    input: [
      { role: "user", content: [{ type: "input_text", text: "t" }] },
      { type: "message", role: "developer", content: "d" },
      { type: "message", role: "user", content: [{ type: "input_image", image_url: `data:image/png;base64,${png}` }] },
      {
        type: "message",
        role: "user",
        content: [{ type: "input_file", filename: "f", file_url: "https://a.example" }],
      },
      { type: "function_call", call_id: "c", name: "f", arguments: '{"a":"x"}' },
      { type: "function_call_output", call_id: "c", output: "o" },
      { type: "custom_tool_call", call_id: "c", name: "f", input: "x" },
      { type: "custom_tool_call_output", call_id: "c", output: [{ type: "input_text", text: "t" }] },
      { type: "reasoning", id: "r", summary: [{ type: "summary_text", text: "t" }], encrypted_content: png },
      { type: "local_shell_call", call_id: "c", action: { command: ["ls"], env: { A: "b" } } },
      { type: "apply_patch_call", call_id: "c", operation: { path: "p", diff: "d" } },
      { type: "shell_call_output", call_id: "c", output: [{ stdout: "o", stderr: "e" }] },
      { type: "web_search_call", action: { query: "q" } },
      { type: "invented_item", invented: { text: ["x"] } },
    ],
    prompt: { id: "p", variables: { a: "x" } },
    text: { format: { type: "json_schema", name: "n", schema: { const: "c" } } },
    tools: [
      { type: "function", name: "f", description: "d", parameters: { enum: ["e"] } },
      { type: "mcp", server_label: "l", server_url: "https://example.com", headers: { a: "b" } },
    ],
    metadata: { k: "v" },
    user: "u",
  },
  gemini: {
    systemInstruction: { parts: [{ text: "s" }] },
    contents: [
      {
        role: "user",
        parts: [
          { text: "t" },
          { inlineData: { mimeType: "image/png", data: png, displayName: "n" } },
          { fileData: { mimeType: "image/png", fileUri: "https://example.com/f" } },
        ],
      },
      {
        role: "model",
        parts: [
          { functionCall: { id: "i", name: "f", args: { a: "x" } }, thoughtSignature: png },
          { executableCode: { language: "PYTHON", code: "c" } },
        ],
      },
      { role: "user", parts: [{ functionResponse: { name: "f", response: { r: "x" } } }] },
    ],
    tools: [{ functionDeclarations: [{ name: "f", description: "d", parameters: { description: "d" } }] }],
    generationConfig: { stopSequences: ["s"], responseSchema: { description: "d" } },
    labels: { k: "v" },
  },
  "openai-embeddings": { model: "m", input: ["a", "b"], user: "u" },
  "openai-speech": { model: "m", input: "a", voice: "v", instructions: "i" },
  "openai-images": { model: "m", prompt: "p" },
  any: { anything: [{ at: "all" }] },
};

/** Members that are not checked: models, types and roles; media; encrypted parts. */
const notTexts =
  /^(?:model|.*\.(?:type|role|format|media_type|mimeType|language|detail|effort|signature|encrypted_content|thoughtSignature)|.*input_audio\.data|.*inlineData\.data|.*source\.data|.*\]\.data)$/;

function* leaves(value: unknown, path: string): Generator<{ path: string; put: (root: never) => void }> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, each] of Object.entries(value)) {
    const own = Array.isArray(value) ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
    if (typeof each === "string") yield { path: own, put: () => Reflect.set(value, key, secret) };
    else yield* leaves(each, own);
  }
}

test.each(Object.entries(requests))("blocks a credential in every string of a request: %s", (dialect, request) => {
  const checked: string[] = [];
  const missed: string[] = [];
  const count = [...leaves(request, "")].length;
  for (let index = 0; index < count; index++) {
    const body = structuredClone(request);
    const leaf = [...leaves(body, "")][index];
    leaf?.put(body as never);
    const { guard } = guardOf(guardrail("block"));
    try {
      guard.checkBody(dialect as WireDialectId, "input", Buffer.from(JSON.stringify(body)));
      missed.push(leaf?.path ?? "");
    } catch (thrown) {
      expect((thrown as Failure).code).toBe("guardrail_blocked");
      checked.push(leaf?.path ?? "");
    }
  }
  expect(missed.filter((path) => !notTexts.test(path))).toEqual([]);
  expect(checked.length).toBeGreaterThan(0);
});

test.each(Object.entries(requests))("blocks a credential as the name of an unknown member: %s", (dialect, request) => {
  const body = Buffer.from(JSON.stringify({ ...request, [secret]: 1 }));
  expect(() => guardOf(guardrail("block")).guard.checkBody(dialect as WireDialectId, "input", body)).toThrow(Failure);
});

test.each([
  ["text", { model: "m", messages: [{ role: "user", content: "@" }] }],
  ["system", { model: "m", messages: [{ content: "@", role: "system" }] }],
  ["tool_results", { model: "m", messages: [{ role: "tool", tool_call_id: "c", content: "@" }] }],
  [
    "tool_arguments",
    {
      model: "m",
      messages: [{ role: "assistant", tool_calls: [{ function: { name: "f", arguments: '{"a":"@"}' } }] }],
    },
  ],
  ["files", { model: "m", messages: [{ role: "user", content: [{ type: "file", file: { filename: "@" } }] }] }],
  ["reasoning", { model: "m", messages: [{ role: "assistant", reasoning_content: "@" }] }],
] as const)("looks only at the chosen places: %s", (place, request) => {
  const body = (): Buffer => Buffer.from(JSON.stringify(request).replace("@", secret));
  for (const at of ["text", "system", "tool_arguments", "tool_results", "files", "reasoning"] as const) {
    const { guard } = guardOf(guardrail("block", { at: [at] }));
    const check = (): unknown => guard.checkBody("openai-chat", "input", body());
    if (at === place) expect(check).toThrow(Failure);
    else expect(check).not.toThrow();
  }
});

test("masks only the findings, byte for byte, and restores them in the answer", () => {
  const { guard, records } = guardOf(guardrail("mask", { on: ["input"] }));
  const before = `{ "model":"m", "messages":[{"role":"user","content":"caf\\u00e9 \\"${secret}\\" 🙂"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\\"key\\": \\"${secret}\\", \\"n\\": 1.0}"}}]}]}`;
  const made = Buffer.from(guard.checkBody("openai-chat", "input", Buffer.from(before)) as Uint8Array).toString();
  const [placeholder = ""] = guard.placeholders.issued();
  expect(made).toBe(before.replaceAll(secret, placeholder));
  const answer = `{"choices":[{"message":{"content":"It is ${placeholder}, not ‹GITHUB_TOKEN_00000000›.","tool_calls":[{"function":{"name":"f","arguments":"{\\"k\\":\\"${placeholder}\\"}"}}]}}]}`;
  const restored = Buffer.from(guard.checkBody("openai-chat", "output", Buffer.from(answer)) as Uint8Array).toString();
  expect(restored).toBe(answer.replaceAll(placeholder, secret));
  expect(records.map(({ side, verdict, counts }) => ({ side, verdict, counts }))).toEqual([
    { side: "input", verdict: "masked", counts: { github_token: 2 } },
  ]);
  expect(JSON.stringify(records)).not.toContain(secret);
});

test("quotes the placeholder of a number", () => {
  const { guard } = guardOf(guardrail("mask", { check: { kind: "personal_data", types: ["card"] } }));
  const body = '{"model":"m","messages":[{"role":"user","content":"x"}],"metadata":{"card": 4111111111111111}}';
  const made = Buffer.from(guard.checkBody("openai-chat", "input", Buffer.from(body)) as Uint8Array).toString();
  const { metadata } = JSON.parse(made);
  expect(metadata.card).toMatch(/^‹CARD_[0-9A-Z]{8}›$/);
});

test("does not change signed reasoning, and counts what it leaves", () => {
  const { guard, records } = guardOf(guardrail("mask"));
  const body = Buffer.from(
    JSON.stringify({
      model: "m",
      messages: [{ role: "assistant", content: [{ type: "thinking", thinking: secret, signature: png }] }],
    }),
  );
  expect(guard.checkBody("anthropic-messages", "input", body)).toEqual(body);
  expect(records[0]).toMatchObject({ verdict: "masked", unmasked: 1 });
});

test("gives one value the same placeholder in every call of a workspace", () => {
  const placeholders = ["one", "two"].map((text) => {
    const { guard } = guardOf(guardrail("mask"));
    guard.checkBody("any", "input", Buffer.from(JSON.stringify({ text, secret })));
    return guard.placeholders.issued();
  });
  expect(placeholders[0]).toEqual(placeholders[1] as never);
});

test.each(["input", "output"] as const)("refuses contents that cannot be read if configured: %s", (side) => {
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: png } };
  const body = Buffer.from(
    JSON.stringify({ model: "m", content: [image], messages: [{ role: "user", content: [image] }] }),
  );
  const check = (unreadable: Guardrail["unreadable"]): unknown =>
    guardOf(guardrail("block", { unreadable })).guard.checkBody("anthropic-messages", side as GuardrailSide, body);
  expect(() => check("block")).toThrow(Failure);
  expect(() => check("pass")).not.toThrow();
});

test("changes nothing in shadow mode", () => {
  for (const action of ["block", "mask"] as const) {
    const { guard, records } = guardOf(guardrail(action, { enforce: false }));
    const body = Buffer.from(JSON.stringify({ text: secret }));
    expect(guard.checkBody("any", "input", body)).toEqual(body);
    expect(records[0]?.verdict).toBe(action === "block" ? "blocked" : "masked");
  }
});

test("blocks a check that takes too long, unless the guardrail passes it", () => {
  for (const onError of ["block", "pass"] as const) {
    const { guard } = guardOf(guardrail("block", { onError }), { cpuMs: slowCpu() });
    const check = (): unknown =>
      guard.checkBody("any", "input", Buffer.from(JSON.stringify({ a: ["token=b", "token=".repeat(1_000)] })));
    if (onError === "pass") expect(check).not.toThrow();
    else expect(check).toThrow("could not be checked");
  }
});

test("does not pass what only a model or service checks if the texts cannot be read", () => {
  const check = { kind: "moderation" as const, model: "m", categories: null, threshold: null };
  const { guard } = guardOf(guardrail("block", { check }), {
    cpuMs: slowCpu(),
    remote: () => Promise.resolve({ types: [] }),
  });
  const body = Buffer.from(JSON.stringify({ a: ["b", "c".repeat(5_000)] }));
  expect(() => guard.checkBody("any", "input", body)).toThrow("could not be checked");
});

test("masks a long body like a short one", async () => {
  const text = "word ".repeat(20_000);
  const { guard } = guardOf(guardrail("mask"));
  const made = await guard.checkBody("any", "input", Buffer.from(JSON.stringify({ text, secret })));
  const [placeholder = ""] = guard.placeholders.issued();
  expect(JSON.parse(Buffer.from(made).toString())).toEqual({ text, secret: placeholder });
});

test.each(["block", "pass"] as const)(
  "records a failed check if its thread dies, and fails the call: on_error %s",
  async (onError) => {
    const died = new Failure("internal_error", "Unexpected error in the gateway.", {
      cause: new Error("out of memory"),
    });
    const { guard, records } = guardOf(guardrail("block", { onError }), { inspectLarge: () => Promise.reject(died) });
    const checked = guard.checkBody("any", "input", Buffer.from(JSON.stringify({ text: "word ".repeat(20_000) })));
    await expect(checked).rejects.toMatchObject({ code: onError === "block" ? "guardrail_failed" : "internal_error" });
    expect(records).toMatchObject([{ verdict: "failed", error: "out of memory" }]);
  },
);
