import { describe, expect, test } from "bun:test";
import type { Seal, TurnPart } from "#core/index.ts";
import { assistant, call, read, refusal, text, thought, user } from "../../../test/responses-turns.ts";
import { sealText } from "../turn/seal-text.ts";

describe("reading a Responses request", () => {
  test("puts instructions first and keeps later system messages in place", () => {
    const { turn } = read({
      instructions: "one",
      input: [
        { role: "developer", content: "two" },
        { role: "system", content: [{ type: "input_text", text: "three" }] },
        { role: "user", content: "hi" },
        { type: "message", role: "developer", content: "four" },
      ],
    });
    expect(turn.system.map((part) => part.text)).toEqual(["one", "two", "three"]);
    expect(turn.messages).toEqual([user(text("hi")), { role: "system", parts: [text("four")] }]);
  });

  test("joins a tool loop into one assistant message and one message of results", () => {
    const { turn } = read({
      input: [
        { role: "user", content: "go" },
        { type: "reasoning", id: "rs_9", summary: [{ type: "summary_text", text: "hm" }], encrypted_content: "gAAA" },
        { type: "function_call", call_id: "c1", name: "f", arguments: '{"a":1}', id: "fc_1", status: "completed" },
        { type: "function_call", call_id: "c2", name: "f", arguments: "" },
        { type: "function_call_output", call_id: "c1", output: "ok" },
        {
          type: "function_call_output",
          call_id: "c2",
          output: [{ type: "input_image", image_url: "data:image/png;base64,AA==" }],
        },
      ],
    });
    expect(turn.messages).toHaveLength(3);
    expect(turn.messages[1]).toEqual(
      assistant(thought({ dialect: "openai-responses", account: null, data: "gAAA", itemId: "rs_9" }), call("c1"), {
        ...(call("c2") as TurnPart & { kind: "tool-call" }),
        argumentsText: "{}",
      }),
    );
    const [, second] = turn.messages[2]?.parts ?? [];
    expect(second).toMatchObject({
      callId: "c2",
      name: "f",
      parts: [{ kind: "image", source: { mediaType: "image/png", data: "AA==" } }],
    });
  });

  test("reads a cache breakpoint as a hint, a long one for twelve hours", () => {
    const part = { type: "input_text", text: "x" };
    const image = { type: "input_image", image_url: "data:image/png;base64,AA==" };
    const content = [
      { ...part, prompt_cache_breakpoint: { mode: "explicit" } },
      { ...part, prompt_cache_breakpoint: { mode: "explicit", ttl: "12h" } },
      { ...image, prompt_cache_breakpoint: { mode: "explicit", ttl: "12h" } },
      part,
    ];
    const { turn } = read({ input: [{ role: "user", content }] });
    expect(turn.messages[0]?.parts).toMatchObject([
      { cache: { ttl: null } },
      { cache: { ttl: "1h" } },
      { cache: { ttl: "1h" } },
      { cache: null },
    ]);
  });

  test("keeps the URL of a file, even in a vendor's storage", () => {
    const urls = ["https://example.com/a.pdf", "gs://bucket/a.pdf", "s3://bucket/a.pdf"];
    const { turn } = read({
      input: [{ role: "user", content: urls.map((url) => ({ type: "input_file", file_url: url })) }],
    });
    expect(turn.messages[0]?.parts).toMatchObject(
      urls.map((url) => ({ kind: "document", source: { kind: "url", url, mediaType: null } })),
    );
  });

  test("warns about reasoning in message content, which Responses does not support", () => {
    const content = [
      { type: "thinking", thinking: "hm" },
      { type: "output_text", text: "x" },
    ];
    const { turn, warnings } = read({ input: [{ role: "assistant", content }] });
    expect(turn.messages).toEqual([assistant(text("x"))]);
    expect(warnings).toEqual([expect.stringContaining("content of type thinking")]);
  });

  test("reads custom tools and calls with one text argument", () => {
    const { turn } = read({
      tools: [
        {
          type: "custom",
          name: "apply_patch",
          description: "d",
          format: { type: "grammar", syntax: "lark", definition: "start: X" },
        },
      ],
      input: [
        { type: "custom_tool_call", call_id: "c1", name: "apply_patch", input: 'say "hi"' },
        { type: "custom_tool_call_output", call_id: "c1", output: "done" },
      ],
    });
    expect(turn.tools[0]?.parameters).toMatchObject({ properties: { input: { type: "string" } }, required: ["input"] });
    expect(turn.tools[0]?.description).toContain("start: X");
    expect(turn.messages[0]?.parts[0]).toMatchObject({ kind: "tool-call", argumentsText: '{"input":"say \\"hi\\""}' });
  });

  test("joins namespaces and names of tools and calls", () => {
    const { turn } = read({
      tools: [
        {
          type: "namespace",
          name: "mcp__files__",
          description: "Files.",
          tools: [{ type: "function", name: "read", description: "Reads." }],
        },
      ],
      tool_choice: { type: "function", name: "read" },
      input: [{ type: "function_call", call_id: "c", namespace: "mcp__files__", name: "read", arguments: "{}" }],
    });
    expect(turn.tools[0]).toMatchObject({ name: "mcp__files__read", description: "Files.\n\nReads." });
    expect(turn.toolChoice).toEqual({ kind: "tool", name: "mcp__files__read" });
    expect(turn.messages[0]?.parts[0]).toMatchObject({ name: "mcp__files__read" });
  });

  test("drops built-in tools and items with one warning each", () => {
    const { turn, warnings } = read({
      tools: [
        { type: "web_search" },
        { type: "web_search" },
        { type: "mcp", server_label: "x" },
        { type: "function", name: "f" },
      ],
      input: [
        { role: "user", content: "x" },
        { type: "web_search_call", id: "ws_1", status: "completed" },
        { type: "\u{1F600}" },
      ],
    });
    expect(turn.tools.map((tool) => tool.name)).toEqual(["f"]);
    expect(turn.search).toBeDefined();
    expect(warnings).toHaveLength(3);
    expect(warnings.join()).toMatch(/web_search_call .*unnamed.*mcp /);
    expect(warnings.join()).toMatch(/^[\x20-\x7e]*$/);
  });

  test.each([
    [{ previous_response_id: "resp_1", input: "x" }, "previous_response_id"],
    [{ conversation: { id: "conv_1" }, input: "x" }, "conversation"],
    [{ prompt: { id: "p" } }, "prompt"],
    [{ background: true, input: "x" }, "background"],
    [{ input: [{ type: "item_reference", id: "msg_1" }] }, "input[0]"],
    [
      {
        input: [
          { role: "user", content: "x" },
          { type: "compaction", encrypted_content: "y" },
        ],
      },
      "input[1]",
    ],
  ])("rejects %j, so that a deployment with the Responses API is tried", (request, param) => {
    expect(refusal(() => read(request))).toEqual({ code: "unsupported_by_model", param, retry: "other" });
  });

  test.each([
    [{ input: 5 }, "input"],
    [{ input: ["x"] }, "input[0]"],
    [{ input: [{ role: "nobody", content: "x" }] }, "input[0].role"],
    [{ input: [{ type: "function_call", call_id: "c", arguments: "{}" }] }, "input[0].name"],
    [{ input: [{ role: "user", content: [{ type: "input_text", text: 5 }] }] }, "input[0].content[0].text"],
    [{ input: "x", tools: [{ type: "function" }] }, "tools[0].name"],
    [{ input: "x", temperature: "hot" }, "temperature"],
    [{ input: "x", instructions: ["be brief"] }, "instructions"],
    [{ input: "x", metadata: { a: 1 } }, "metadata"],
    [{ input: "x", text: { format: { type: "xml" } } }, "text.format.type"],
  ])("rejects %j and names the field", (request, param) => {
    expect(refusal(() => read(request))).toMatchObject({ code: "invalid_request", param });
  });
  test("names the missing text of a part", () => {
    const param = "input[0].content[0].text";
    const failure = refusal(() => read({ input: [{ role: "user", content: [{ type: "input_text" }] }] }));
    expect(failure).toMatchObject({ code: "missing_required_parameter", param });
  });

  test("treats zero as a value and null as absent", () => {
    expect(read({ input: "x", temperature: 0, top_p: null }).turn).toMatchObject({ temperature: 0, topP: null });
  });

  test("reads a Codex request without a warning", () => {
    const { turn, warnings } = read({
      instructions: "You are Codex.",
      input: [{ type: "message", role: "user", content: [{ type: "input_text", text: "hi" }] }],
      tools: [
        {
          type: "function",
          name: "shell",
          description: "d",
          strict: false,
          parameters: { type: "object", properties: {} },
        },
      ],
      tool_choice: "auto",
      parallel_tool_calls: false,
      reasoning: { effort: "medium", summary: "auto" },
      store: false,
      stream: true,
      include: ["reasoning.encrypted_content"],
      prompt_cache_key: "0199",
      text: { verbosity: "low" },
    });
    expect(warnings).toEqual([]);
    expect(turn).toMatchObject({
      toolChoice: { kind: "auto" },
      parallelToolCalls: false,
      reasoning: { effort: "medium", budgetTokens: null, visible: true },
      cacheKey: "0199",
      verbosity: "low",
    });
  });

  test("warns about unsupported fields", () => {
    expect(read({ input: "x", truncation: "auto", max_tool_calls: 3, brand_new: {} }).warnings).toHaveLength(3);
    expect(read({ input: "x", truncation: "disabled", stream_options: {}, store: true }).warnings).toEqual([]);
  });

  test("applies allowed_tools by dropping the other tools", () => {
    const tools = ["a", "b"].map((name) => ({ type: "function", name }));
    const choice = { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "b" }] };
    const { turn } = read({ input: "x", tools, tool_choice: choice });
    expect([turn.tools.map((tool) => tool.name), turn.toolChoice]).toEqual([["b"], { kind: "any" }]);
  });

  test("restores other vendors' seals, also on calls", () => {
    const seal: Seal = { dialect: "gemini", account: "g1", data: "sig", itemId: null };
    const { turn } = read({
      input: [
        {
          type: "reasoning",
          summary: [],
          encrypted_content: `${sealText({ ...seal, dialect: "anthropic-messages" })}.redacted`,
        },
        { type: "function_call", call_id: "c1", name: "f", arguments: '{"a":1}' },
        { type: "reasoning", summary: [], encrypted_content: `${sealText(seal)}.call` },
        { type: "function_call_output", call_id: "c1", output: "ok" },
      ],
    });
    expect(turn.messages[0]?.parts).toEqual([
      { kind: "reasoning", text: "", seal: { ...seal, dialect: "anthropic-messages" }, redacted: true },
      { ...(call("c1") as TurnPart & { kind: "tool-call" }), seal },
    ]);
  });
});
