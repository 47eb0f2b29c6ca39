import { describe, expect, test } from "bun:test";
import type Anthropic from "@anthropic-ai/sdk";
import { Failure, type Turn } from "#core/index.ts";
import { sealText } from "../turn/seal-text.ts";
import { anthropicMessagesCodec as codec } from "./index.ts";

type Body = Anthropic.Beta.MessageCreateParams;

const good: Body = { model: "claude-opus-5", max_tokens: 100, messages: [{ role: "user", content: "Hi" }] };

function read(body: object): { readonly turn: Turn; readonly warnings: readonly string[] } {
  const warnings: string[] = [];
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  const turn = codec.readTurn(bytes, { model: "m", stream: true }, (what) => warnings.push(what));
  return { turn, warnings };
}

const readMore = (more: Partial<Body> & object): ReturnType<typeof read> => read({ ...good, ...more });

describe("reading a messages request", () => {
  test("reads what Claude Code sends", () => {
    const cached = { type: "ephemeral", ttl: "1h" } as const;
    const { turn, warnings } = readMore({
      system: [
        { type: "text", text: "x-anthropic-billing-header: cc_version=2.1.197" },
        { type: "text", text: "You are an agent.", cache_control: cached },
      ],
      tools: [
        { name: "Read", description: "Reads", input_schema: { type: "object" }, cache_control: { type: "ephemeral" } },
      ],
      tool_choice: { type: "auto", disable_parallel_tool_use: true },
      thinking: { type: "adaptive" },
      output_config: { effort: "high" },
      metadata: { user_id: '{"session_id":"s"}' },
      stop_sequences: ["END"],
      service_tier: "standard_only",
      betas: ["effort-2025-11-24"],
    });
    expect(turn).toMatchObject({
      stream: true,
      system: [{ kind: "text", text: "You are an agent.", cache: { ttl: "1h" } }],
      messages: [{ role: "user", parts: [{ kind: "text", text: "Hi", cache: null }] }],
      tools: [
        { name: "Read", description: "Reads", parameters: { type: "object" }, strict: null, cache: { ttl: null } },
      ],
      toolChoice: { kind: "auto" },
      parallelToolCalls: false,
      outputTokensMax: 100,
      reasoning: { effort: "high", budgetTokens: null, visible: true },
      userId: '{"session_id":"s"}',
      stop: ["END"],
      serviceTier: "default",
      choices: 1,
    });
    expect(warnings).toEqual([]);
  });

  test("treats zero as a value and null as absent", () => {
    expect(read({ ...good, temperature: 0, top_k: 0 }).turn).toMatchObject({ temperature: 0, topK: 0 });
    expect(read({ ...good, temperature: null, tools: null, thinking: null, system: null }).turn).toMatchObject({
      ...{ temperature: null, tools: [], reasoning: null, system: [] },
    });
  });

  test.each([
    [{ thinking: { type: "enabled", budget_tokens: 2_048 } }, { effort: null, budgetTokens: 2_048, visible: true }],
    [{ thinking: { type: "adaptive", display: "omitted" } }, { effort: null, budgetTokens: null, visible: false }],
    [{ thinking: { type: "disabled" } }, { effort: "none", budgetTokens: null, visible: false }],
    [{ output_config: { effort: "max" } }, { effort: "max", budgetTokens: null, visible: false }],
    [{}, null],
  ])("reads %j as the thinking request %j", (more, requested) => {
    expect(readMore(more as Partial<Body>).turn.reasoning).toEqual(requested as Turn["reasoning"]);
  });

  test("reads the answer's schema from either field", () => {
    const format = { type: "json_schema" as const, schema: { type: "object" } };
    const wanted = { kind: "schema", name: null, description: null, schema: { type: "object" }, strict: null };
    expect(readMore({ output_config: { format } }).turn.format).toEqual(wanted as Turn["format"]);
    expect(readMore({ output_format: format }).turn.format).toEqual(wanted as Turn["format"]);
  });

  test("reads a tool result with text, pictures, error and the tool's name", () => {
    const { turn } = readMore({
      messages: [
        { role: "user", content: "Look" },
        { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "look", input: { at: "door" } }] },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: "toolu_1",
              is_error: true,
              content: [
                { type: "text", text: "dark" },
                { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } },
              ],
            },
            { type: "tool_result", tool_use_id: "toolu_2", content: "bright" },
            { type: "tool_result", tool_use_id: "toolu_3" },
          ],
        },
      ],
    });
    expect(turn.messages[1]?.parts).toEqual([
      { kind: "tool-call", id: "toolu_1", name: "look", argumentsText: '{"at":"door"}', seal: null, cache: null },
    ]);
    expect(turn.messages[2]?.parts).toMatchObject([
      {
        callId: "toolu_1",
        name: "look",
        isError: true,
        parts: [{ text: "dark" }, { kind: "image", source: { data: "aGk=" } }],
      },
      { callId: "toolu_2", name: null, isError: false, parts: [{ text: "bright" }] },
      { callId: "toolu_3", parts: [] },
    ]);
  });

  test("reads documents with their title, and search results as documents", () => {
    const { turn, warnings } = readMore({
      messages: [
        {
          role: "user",
          content: [
            {
              type: "document",
              title: "T",
              source: { type: "base64", media_type: "application/pdf", data: "JVBERg==" },
            },
            { type: "document", context: "about it", source: { type: "url", url: "https://x.test/a.pdf" } },
            { type: "document", source: { type: "content", content: [{ type: "text", text: "inside" }] } },
            { type: "document", source: { type: "file", file_id: "file_1" } },
            { type: "search_result", source: "https://x.test", title: "S", content: [{ type: "text", text: "found" }] },
          ],
        },
      ],
    });
    expect(turn.messages[0]?.parts).toMatchObject([
      { kind: "document", name: "T", source: { kind: "base64", mediaType: "application/pdf" } },
      { kind: "text", text: "about it" },
      { kind: "document", source: { kind: "url", url: "https://x.test/a.pdf" } },
      { kind: "document", source: { kind: "text", text: "inside" } },
      { kind: "document", source: { kind: "file", id: "file_1", dialect: "anthropic-messages" } },
      { kind: "document", name: "S", source: { kind: "text", text: "https://x.test\nfound" } },
    ]);
    expect(warnings).toEqual([]);
  });

  test("keeps the signature of a thinking block and decodes other vendors' seals", () => {
    const foreign = { dialect: "openai-responses" as const, account: "acme", data: "enc", itemId: "rs_1" };
    const { turn } = readMore({
      messages: [
        { role: "user", content: "Hi" },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "own", signature: "sig" },
            { type: "thinking", thinking: "foreign", signature: sealText(foreign) },
            { type: "thinking", thinking: "unsealed", signature: "" },
            { type: "redacted_thinking", data: "hidden" },
          ],
        },
      ],
    });
    const own = { dialect: "anthropic-messages", account: null, itemId: null };
    expect(turn.messages[1]?.parts).toEqual([
      { kind: "reasoning", text: "own", seal: { ...own, data: "sig" }, redacted: false },
      { kind: "reasoning", text: "foreign", seal: foreign, redacted: false },
      { kind: "reasoning", text: "unsealed", seal: null, redacted: false },
      { kind: "reasoning", text: "", seal: { ...own, data: "hidden" }, redacted: true },
    ] as Turn["messages"][number]["parts"]);
  });

  test("keeps a system message within the conversation in place", () => {
    const messages = [...good.messages, { role: "system", content: "Be brief." }] as Body["messages"];
    expect(readMore({ messages }).turn.messages.map((message) => message.role)).toEqual(["user", "system"]);
  });
});

describe("unsupported fields", () => {
  test.each([
    ["mcp_servers", { mcp_servers: [{ type: "url", name: "n", url: "https://x.test" }] }],
    ["context_management", { context_management: { edits: [] } }],
    ["container", { container: "c" }],
    ["speed", { speed: "fast" }],
    ["inference_geo", { inference_geo: "eu" }],
    ["new_field", { new_field: 1 }],
    ["(unnamed)", { "a; b\n": 1 }],
    ["web_fetch_20250910", { tools: [{ type: "web_fetch_20250910", name: "web_fetch" }] }],
    [
      "web_fetch_tool_result",
      { messages: [{ role: "user", content: [{ type: "web_fetch_tool_result", content: [] }] }] },
    ],
  ])("drops %s with a warning", (name, more) => {
    const { warnings } = read({ ...good, ...more });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(name);
    expect(warnings[0]).toMatch(/^[\x20-\x7e]{1,120}$/);
  });

  test("drops cache, billing and log hints without a warning", () => {
    const more = {
      cache_control: { type: "ephemeral" },
      diagnostics: {},
      speed: "standard",
      mcp_servers: [],
      betas: ["x"],
    };
    expect(read({ ...good, ...more }).warnings).toEqual([]);
  });

  test("drops the tool choice if its tool was dropped", () => {
    const tools = [{ type: "web_fetch_20250910", name: "web_fetch" }];
    const { turn, warnings } = read({ ...good, tools, tool_choice: { type: "tool", name: "web_fetch" } });
    expect(turn).toMatchObject({ tools: [], toolChoice: null });
    expect(warnings).toHaveLength(2);
  });

  test("keeps the text of a server tool's result", () => {
    const result = { type: "mcp_tool_result", tool_use_id: "m", content: [{ type: "text", text: "kept" }] };
    const { turn } = read({ ...good, messages: [{ role: "user", content: [result] }] });
    expect(turn.messages[0]?.parts).toMatchObject([{ kind: "text", text: "kept" }]);
  });
});

describe("invalid requests", () => {
  const failure = (more: object): unknown => {
    try {
      read({ ...good, ...more });
    } catch (thrown) {
      if (thrown instanceof Failure) return { code: thrown.code, param: thrown.param };
      throw thrown;
    }
    return null;
  };

  const userMessage = (content: unknown): object => ({ messages: [{ role: "user", content }] });

  test.each([
    [{ messages: [{ role: "tool", content: "x" }] }, "messages.0.role"],
    [userMessage(7), "messages.0.content"],
    [userMessage(["x"]), "messages.0.content.0"],
    [userMessage([{ type: "text" }]), "messages.0.content.0.text"],
    [userMessage([{ text: "x" }]), "messages.0.content.0.type"],
    [userMessage([{ type: "image", source: { type: "base64", data: "" } }]), "messages.0.content.0.source.media_type"],
    [userMessage([{ type: "image", source: { type: "cloud" } }]), "messages.0.content.0.source"],
    [userMessage([{ type: "tool_result" }]), "messages.0.content.0.tool_use_id"],
    [userMessage([{ type: "tool_use", id: "a" }]), "messages.0.content.0.name"],
    [{ system: 7 }, "system"],
    [{ system: [{ type: "image" }] }, "system.0"],
    [{ tools: [{ description: "x" }] }, "tools.0.name"],
    [{ tools: [{ name: "x", input_schema: "y" }] }, "tools.0.input_schema"],
    [{ tool_choice: { type: "some" } }, "tool_choice.type"],
    [{ stop_sequences: [7] }, "stop_sequences.0"],
    [{ temperature: "hot" }, "temperature"],
    [{ output_config: { format: { type: "json_schema" } } }, "output_config.format.schema"],
  ])("rejects %j and names the field", (more, param) => {
    expect(failure(more)).toEqual({ code: "invalid_request", param });
  });

  test("rejects a thread that is stored by Anthropic", () => {
    expect(failure({ thread: { previous_message_id: "msg_1" } })).toEqual({
      code: "unsupported_by_model",
      param: "thread",
    });
  });
});
