import { describe, expect, test } from "bun:test";
import { Failure, type Turn } from "#core/index.ts";
import { customNames } from "./custom-tool.ts";
import { readChatTurn } from "./read-turn.ts";

const hello = [{ role: "user", content: "Hello" }];
const call = (id: string, name: string, more: object = {}): object => ({
  id,
  type: "function",
  function: { name, arguments: '{"a":1}' },
  ...more,
});

function read(request: object): { turn: Turn; warnings: string[] } {
  const warnings: string[] = [];
  const body = new TextEncoder().encode(JSON.stringify({ model: "m", messages: hello, ...request }));
  return { turn: readChatTurn(body, { stream: false }, (what) => warnings.push(what)), warnings };
}

const messagesOf = (...messages: object[]): Turn["messages"] => read({ messages }).turn.messages;

function refusal(request: object): { code: string; param: string | null } {
  try {
    read(request);
  } catch (thrown) {
    if (thrown instanceof Failure) return { code: thrown.code, param: thrown.param };
    throw thrown;
  }
  throw new Error("was accepted");
}

describe("instructions", () => {
  test("separates leading instructions and keeps later ones in place", () => {
    const { turn } = read({
      messages: [
        { role: "system", content: "one" },
        { role: "developer", content: [{ type: "text", text: "two" }] },
        ...hello,
        { role: "system", content: "three" },
        ...hello,
      ],
    });
    expect(turn.system.map((part) => part.text)).toEqual(["one", "two"]);
    expect(turn.messages.map(({ role }) => role)).toEqual(["user", "system", "user"]);
  });
});

describe("parts of a message", () => {
  test("reads images, audio, video and files by kind and source", () => {
    const content = [
      { type: "image_url", image_url: { url: "data:image/png;base64,AAAA", detail: "low" } },
      { type: "image_url", image_url: { url: "https://example.com/a.png" } },
      { type: "input_audio", input_audio: { data: "AAAA", format: "mp3" } },
      { type: "file", file: { file_data: "data:application/pdf;base64,AAAA", filename: "a.pdf" } },
      { type: "file", file: { file_id: "file-1" } },
      { type: "file", file: { file_data: "data:text/plain,a%20b" } },
      { type: "video_url", video_url: { url: "https://example.com/a.mp4" } },
    ];
    const [message] = messagesOf({ role: "user", content });
    expect(message?.parts).toMatchObject([
      { kind: "image", source: { kind: "base64", mediaType: "image/png", data: "AAAA" }, detail: "low" },
      { kind: "image", source: { kind: "url", url: "https://example.com/a.png" } },
      { kind: "audio", source: { kind: "base64", mediaType: "audio/mpeg", data: "AAAA" } },
      { kind: "document", source: { kind: "base64", mediaType: "application/pdf", data: "AAAA" }, name: "a.pdf" },
      { kind: "document", source: { kind: "file", id: "file-1", dialect: "openai-chat" } },
      { kind: "document", source: { kind: "base64", mediaType: "text/plain", data: "YSBi" } },
      { kind: "video", source: { kind: "url" } },
    ]);
  });

  test("reads a cache breakpoint as a cache hint", () => {
    const part = { type: "text", text: "x" };
    const content = [
      { ...part, prompt_cache_breakpoint: { mode: "explicit" } },
      { ...part, cache_control: { type: "ephemeral", ttl: "1h" } },
      part,
    ];
    const [message] = messagesOf({ role: "user", content });
    expect(message?.parts).toMatchObject([{ cache: { ttl: null } }, { cache: { ttl: "1h" } }, { cache: null }]);
  });
});

describe("messages of the assistant", () => {
  test("reads reasoning, text, refusal and calls in this order", () => {
    const [message] = messagesOf({
      role: "assistant",
      content: "text",
      refusal: "no",
      reasoning_content: "hm",
      tool_calls: [call("c1", "look")],
    });
    expect(message?.parts.map((part) => part.kind)).toEqual(["reasoning", "text", "refusal", "tool-call"]);
  });

  test("accepts both names of reasoning", () => {
    for (const field of ["reasoning_content", "reasoning"]) {
      const [message] = messagesOf({ role: "assistant", content: "text", [field]: "hm" });
      expect(message?.parts[0]).toEqual({ kind: "reasoning", text: "hm", seal: null, redacted: false });
    }
  });

  test("reads Gemini's thought signature as its seal", () => {
    const signed = call("c1", "look", { extra_content: { google: { thought_signature: "sig" } } });
    const [message] = messagesOf({ role: "assistant", content: null, tool_calls: [signed] });
    expect(message?.parts).toMatchObject([{ seal: { dialect: "gemini", data: "sig", account: null } }]);
  });

  test("joins neighboring tool results and names their tools", () => {
    const [, results, after] = messagesOf(
      { role: "assistant", content: null, tool_calls: [call("c1", "look"), call("c2", "listen")] },
      { role: "tool", tool_call_id: "c1", content: "seen" },
      { role: "tool", tool_call_id: "c2", content: [{ type: "text", text: "heard" }] },
      ...hello,
    );
    expect(results).toMatchObject({
      role: "user",
      parts: [
        { kind: "tool-result", callId: "c1", name: "look", parts: [{ text: "seen" }] },
        { kind: "tool-result", callId: "c2", name: "listen", parts: [{ text: "heard" }] },
      ],
    });
    expect(after).toMatchObject({ role: "user", parts: [{ kind: "text", text: "Hello" }] });
  });

  test("pairs calls without ids by name", () => {
    const [called, result] = messagesOf(
      { role: "assistant", content: null, function_call: { name: "look", arguments: "{}" } },
      { role: "function", name: "look", content: "seen" },
    );
    const id = called?.parts[0]?.kind === "tool-call" ? called.parts[0].id : "";
    expect(id).not.toBe("");
    expect(result?.parts).toMatchObject([{ kind: "tool-result", callId: id, name: "look" }]);
  });
});

describe("tools", () => {
  const tools = ["look", "listen"].map((name) => ({ type: "function", function: { name, parameters: {} } }));

  test("reads a custom tool as a function with one text argument", () => {
    const { turn, warnings } = read({
      tools: [{ type: "custom", custom: { name: "shell", format: { type: "grammar", grammar: {} } } }],
      messages: [
        ...hello,
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c", type: "custom", custom: { name: "shell", input: "ls" } }],
        },
      ],
    });
    expect(customNames(turn)).toEqual(new Set(["shell"]));
    expect(turn.messages[1]?.parts).toMatchObject([{ name: "shell", argumentsText: '{"input":"ls"}' }]);
    expect(warnings.join()).toContain("grammar");
  });

  test("keeps only allowed tools", () => {
    const allowed = { mode: "required", tools: [{ type: "function", function: { name: "look" } }] };
    const { turn, warnings } = read({ tools, tool_choice: { type: "allowed_tools", allowed_tools: allowed } });
    expect(turn.tools.map((tool) => tool.name)).toEqual(["look"]);
    expect(turn.toolChoice).toEqual({ kind: "any" });
    expect(warnings.join()).toContain("allowed_tools");
  });

  test.each([
    ["auto", { kind: "auto" }],
    ["none", { kind: "none" }],
    ["required", { kind: "any" }],
    [
      { type: "function", function: { name: "look" } },
      { kind: "tool", name: "look" },
    ],
  ])("reads the choice %j", (choice, expected) => {
    expect(read({ tools, tool_choice: choice }).turn.toolChoice).toMatchObject(expected);
  });

  test("reads the deprecated functions as tools", () => {
    const { turn } = read({ functions: [{ name: "look" }], function_call: { name: "look" } });
    expect(turn.tools).toMatchObject([{ name: "look", parameters: null }]);
    expect(turn.toolChoice).toEqual({ kind: "tool", name: "look" });
  });
});

describe("settings", () => {
  test("treats zero as a value and null as absent", () => {
    const { turn } = read({ temperature: 0, seed: 0, top_p: null, max_tokens: null, stop: null });
    expect(turn).toMatchObject({ temperature: 0, seed: 0, topP: null, outputTokensMax: null, stop: [] });
  });

  test("prefers newer names", () => {
    const { turn } = read({ max_tokens: 1, max_completion_tokens: 2, user: "a", safety_identifier: "b", stop: "x" });
    expect(turn).toMatchObject({ outputTokensMax: 2, userId: "b", stop: ["x"] });
  });

  test("reads reasoning_effort and other vendors' thinking", () => {
    const requested = (request: object): Turn["reasoning"] => read(request).turn.reasoning;
    expect(requested({ reasoning_effort: "low" })).toEqual({ effort: "low", budgetTokens: null, visible: false });
    expect(requested({ thinking: { type: "disabled" } })).toMatchObject({ effort: "none" });
    expect(requested({ thinking: { type: "enabled", budget_tokens: 2_000 } })).toMatchObject({ budgetTokens: 2_000 });
    expect(requested({})).toBeNull();
  });

  test("warns once about unsupported fields, but not about harmless ones", () => {
    const { warnings } = read({
      logprobs: true,
      top_logprobs: 0,
      logit_bias: { 1: 2 },
      web_search_options: { search_context_size: "low" },
      "odd name\n": 1,
      store: true,
      prediction: { type: "content", content: "x" },
      stream_options: {},
      messages: [
        { role: "user", content: "a", name: "Ann" },
        { role: "user", content: "b", name: "Bob" },
      ],
    });
    expect(warnings.map((warning) => warning.split(" ")[0])).toEqual(["logprobs", "logit_bias", "(unnamed)", "name"]);
  });
});

describe("invalid requests", () => {
  test.each<[object, string, string]>([
    [{ messages: null }, "missing_required_parameter", "messages"],
    [{ messages: [{ content: "x" }] }, "missing_required_parameter", "messages[0].role"],
    [{ messages: [{ role: "wizard", content: "x" }] }, "invalid_request", "messages[0].role"],
    [{ messages: [{ role: "tool", content: "x" }] }, "missing_required_parameter", "messages[0].tool_call_id"],
    [
      { messages: [{ role: "user", content: [{ type: "file", file: {} }] }] },
      "missing_required_parameter",
      "messages[0].content[0].file.file_data",
    ],
    [
      { messages: [{ role: "user", content: [{ type: "hologram" }] }] },
      "unsupported_by_model",
      "messages[0].content[0].type",
    ],
    [
      { messages: [{ role: "system", content: [{ type: "image_url", image_url: "x" }] }] },
      "invalid_request",
      "messages[0].content",
    ],
    [{ temperature: "hot" }, "invalid_request", "temperature"],
    [{ max_tokens: 0 }, "invalid_request", "max_tokens"],
    [{ stop: [1] }, "invalid_request", "stop"],
    [{ modalities: ["text", "audio"] }, "unsupported_by_model", "modalities"],
    [{ response_format: { type: "json_schema" } }, "missing_required_parameter", "response_format.json_schema.schema"],
    [{ tools: [{ type: "function", function: {} }] }, "missing_required_parameter", "tools[0].function.name"],
  ])("rejects %j as %s, naming %s", (request, code, param) => {
    expect(refusal(request)).toEqual({ code, param });
  });
});

describe("fields of other gateways", () => {
  test("applies a cache mark on a message to its last part", () => {
    const cache_control = { type: "ephemeral", ttl: "1h" };
    const { turn } = read({
      messages: [
        { role: "system", content: "be brief", cache_control },
        { role: "user", content: "look", cache_control },
        { role: "assistant", content: null, tool_calls: [call("c1", "look")] },
        { role: "tool", tool_call_id: "c1", content: "seen", cache_control },
      ],
    });
    const cache = { ttl: "1h" } as const;
    expect(turn.system).toEqual([{ kind: "text", text: "be brief", cache }]);
    expect(turn.messages[0]?.parts).toEqual([{ kind: "text", text: "look", cache }]);
    expect(turn.messages[2]?.parts[0]).toMatchObject({ kind: "tool-result", cache });
  });

  test("reads OpenRouter's reasoning", () => {
    const asked = (reasoning: object) => read({ reasoning }).turn.reasoning;
    expect(asked({ effort: "high" })).toEqual({ effort: "high", budgetTokens: null, visible: true });
    expect(asked({ max_tokens: 2_000, exclude: true })).toEqual({ effort: null, budgetTokens: 2_000, visible: false });
    expect(asked({ enabled: false })).toEqual({ effort: "none", budgetTokens: null, visible: false });
    expect(asked({ exclude: true })).toBeNull();
    expect(read({ reasoning: { effort: "low" } }).warnings).toEqual([]);
  });

  test("ignores an empty reasoning field if the other has text", () => {
    const messages = [...hello, { role: "assistant", content: "x", reasoning_content: "", reasoning: "because" }];
    expect(read({ messages }).turn.messages[1]?.parts[0]).toMatchObject({ kind: "reasoning", text: "because" });
  });
});
