import { describe, expect, test } from "bun:test";
import { Failure, type Turn } from "#core/index.ts";
import { writeSignature } from "./encodings.ts";
import { readGeminiTurn } from "./read-turn.ts";

const encoder = new TextEncoder();
const contents = [{ role: "user", parts: [{ text: "hi" }] }];

function read(body: object): { readonly turn: Turn; readonly warnings: readonly string[] } {
  const warnings: string[] = [];
  const turn = readGeminiTurn(encoder.encode(JSON.stringify(body)), { stream: true }, (what) => warnings.push(what));
  return { turn, warnings };
}

function refusal(body: unknown): readonly (string | null)[] {
  try {
    readGeminiTurn(encoder.encode(JSON.stringify(body)), { stream: false }, () => undefined);
  } catch (thrown) {
    if (thrown instanceof Failure) return [thrown.code, thrown.param];
    throw thrown;
  }
  throw new Error("was accepted");
}

describe("reading a Gemini request", () => {
  test("accepts camelCase and snake_case", () => {
    const camel = {
      systemInstruction: { parts: [{ text: "be brief" }] },
      contents: [{ role: "user", parts: [{ inlineData: { mimeType: "image/png", data: "AAAA" } }] }],
      tools: [{ functionDeclarations: [{ name: "f_x", parametersJsonSchema: { type: "object", a_b: 1 } }] }],
      toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["f_x"] } },
      generationConfig: { maxOutputTokens: 5, topK: 0, thinkingConfig: { thinkingBudget: 100, includeThoughts: true } },
    };
    const snake = {
      system_instruction: { parts: [{ text: "be brief" }] },
      contents: [{ role: "user", parts: [{ inline_data: { mime_type: "image/png", data: "AAAA" } }] }],
      tools: [{ function_declarations: [{ name: "f_x", parameters_json_schema: { type: "object", a_b: 1 } }] }],
      tool_config: { function_calling_config: { mode: "ANY", allowed_function_names: ["f_x"] } },
      generation_config: {
        max_output_tokens: 5,
        top_k: 0,
        thinking_config: { thinking_budget: 100, include_thoughts: true },
      },
    };
    const { turn, warnings } = read(camel);
    expect(read(snake).turn).toEqual(turn);
    expect(warnings).toEqual([]);
    expect(turn).toMatchObject({
      stream: true,
      system: [{ text: "be brief" }],
      toolChoice: { kind: "tool", name: "f_x" },
      tools: [{ name: "f_x", parameters: { type: "object", a_b: 1 } }],
      outputTokensMax: 5,
      topK: 0,
      temperature: null,
      reasoning: { effort: null, budgetTokens: 100, visible: true },
    });
  });

  test("creates stable ids that match calls with their results", () => {
    const call = (name: string): object => ({ functionCall: { name, args: {} } });
    const answer = (name: string, response: object): object => ({ functionResponse: { name, response } });
    const history = [
      ...contents,
      { role: "model", parts: [call("f"), call("g"), call("f")] },
      { role: "user", parts: [answer("g", { output: "2" }), answer("f", { a: 1 }), answer("f", { error: "no" })] },
    ];
    const { turn } = read({ contents: history });
    const results = turn.messages[2]?.parts.map((part) => (part.kind === "tool-result" ? part : null));
    const calls = turn.messages[1]?.parts.map((part) => (part.kind === "tool-call" ? part.id : ""));
    expect(new Set(calls).size).toBe(3);
    expect(results?.map((result) => result?.callId)).toEqual([calls?.[1], calls?.[0], calls?.[2]]);
    expect(results?.map((result) => [result?.parts[0], result?.isError])).toEqual([
      [{ kind: "text", text: "2", cache: null }, false],
      [{ kind: "text", text: '{"a":1}', cache: null }, false],
      [{ kind: "text", text: "no", cache: null }, true],
    ]);
    const grown = read({ contents: [...history, { role: "model", parts: [{ text: "ok" }] }, ...contents] });
    expect(grown.turn.messages.slice(0, 3)).toEqual([...turn.messages]);
  });

  test("joins a streamed answer sent back in pieces", () => {
    const seal = { dialect: "anthropic-messages", account: "a", data: "sig", itemId: null } as const;
    const piece = (part: object): object => ({ role: "model", parts: [part] });
    const { turn } = read({
      contents: [
        ...contents,
        piece({ text: "I ", thought: true }),
        piece({ text: "think", thought: true }),
        piece({ text: "", thought: true, thoughtSignature: writeSignature(seal) }),
        piece({ text: "", thought: true, thoughtSignature: writeSignature(seal, true) }),
        piece({ text: "An" }),
        piece({ text: "swer" }),
        piece({ text: "" }),
        piece({ text: "", thoughtSignature: "Z29vZ2xl" }),
      ],
    });
    expect(turn.messages[1]?.parts).toEqual([
      { kind: "reasoning", text: "I think", seal, redacted: false },
      { kind: "reasoning", text: "", seal, redacted: true },
      { kind: "text", text: "Answer", cache: null },
      {
        kind: "reasoning",
        text: "",
        seal: { dialect: "gemini", account: null, data: "Z29vZ2xl", itemId: null },
        redacted: false,
      },
    ]);
  });

  test("converts Gemini's schema to JSON Schema", () => {
    const parameters = {
      type: "OBJECT",
      properties: {
        type: { type: "STRING", nullable: true, enum: ["A"], format: "enum" },
        list: { type: "ARRAY", items: { type: "INTEGER", format: "int32" }, maxItems: "5", example: [1] },
        any: { anyOf: [{ type: "BOOLEAN" }, { type: "TYPE_UNSPECIFIED", title: "x" }] },
      },
      required: ["type"],
      propertyOrdering: ["type", "list"],
    };
    const schema = {
      type: "object",
      properties: {
        type: { type: ["string", "null"], enum: ["A", null] },
        list: { type: "array", items: { type: "integer", format: "int32" }, maxItems: 5, examples: [[1]] },
        any: { anyOf: [{ type: "boolean" }, { title: "x" }] },
      },
      required: ["type"],
    };
    const { turn } = read({
      contents,
      tools: [{ functionDeclarations: [{ name: "f", description: "d", parameters }] }],
      generationConfig: { responseMimeType: "application/json", responseSchema: parameters },
    });
    expect(turn.tools[0]?.parameters).toEqual(schema);
    expect(turn.format).toEqual({ kind: "schema", name: null, description: null, schema, strict: null });
  });

  test("keeps only the allowed functions, with a warning", () => {
    const functionDeclarations = [{ name: "a" }, { name: "b" }, { name: "c" }];
    const functionCallingConfig = { mode: "ANY", allowedFunctionNames: ["a", "c"] };
    const { turn, warnings } = read({
      contents,
      tools: [{ functionDeclarations }],
      toolConfig: { functionCallingConfig },
    });
    expect([turn.tools.map((tool) => tool.name), turn.toolChoice]).toEqual([["a", "c"], { kind: "any" }]);
    expect(warnings).toHaveLength(1);
  });

  test.each([
    [{ thinkingBudget: 0 }, { effort: "none", budgetTokens: null, visible: false }],
    [{ thinkingBudget: -1 }, { effort: null, budgetTokens: null, visible: false }],
    [
      { thinkingLevel: "HIGH", includeThoughts: true },
      { effort: "high", budgetTokens: null, visible: true },
    ],
  ])("reads thinkingConfig %j as %j", (thinkingConfig, expected) => {
    expect(read({ contents, generationConfig: { thinkingConfig } }).turn.reasoning).toEqual(expected as never);
  });

  test("warns once about each unsupported field", () => {
    const { turn, warnings } = read({
      contents: [{ parts: [{ text: "hi", videoMetadata: {} }, { toolCall: {} }, { toolCall: {} }] }],
      safetySettings: [],
      tools: [{ googleSearch: {} }, { functionDeclarations: [{ name: "f", response: {} }] }],
      toolConfig: { retrievalConfig: {} },
      generationConfig: { speechConfig: {}, "we\u00efrd": 1 },
      labels: { team: "x" },
    });
    expect(turn.metadata).toEqual({ team: "x" });
    expect(turn.search).toBeDefined();
    expect(warnings).toHaveLength(7);
    for (const warning of warnings) expect(warning).toMatch(/^[\x20-\x7e]+$/);
  });

  test.each([
    [{}, "missing_required_parameter", "contents"],
    [{ contents: "hi" }, "invalid_request", "contents"],
    [{ contents: [] }, "invalid_request", "contents"],
    [{ contents: ["hi"] }, "invalid_request", "contents"],
    [{ contents: [{ role: "bot", parts: [] }] }, "invalid_request", "contents"],
    [{ contents: [{ role: "model", parts: [{ functionCall: {} }] }] }, "invalid_request", "contents"],
    [{ contents: [{ parts: [{ inlineData: { data: "AAAA" } }] }] }, "invalid_request", "contents"],
    [{ contents, tools: {} }, "invalid_request", "tools"],
    [{ contents, generationConfig: { temperature: "hot" } }, "invalid_request", "generationConfig.temperature"],
    [{ contents, generationConfig: { stopSequences: "x" } }, "invalid_request", "generationConfig.stopSequences"],
    [{ contents, toolConfig: { functionCallingConfig: { mode: "MAYBE" } } }, "invalid_request", "toolConfig"],
    [{ contents, cachedContent: "cachedContents/a" }, "unsupported_by_model", "cachedContent"],
    [
      { contents, generationConfig: { responseModalities: ["TEXT", "AUDIO"] } },
      "unsupported_by_model",
      "generationConfig.responseModalities",
    ],
    [
      { contents, generationConfig: { responseMimeType: "text/x.enum" } },
      "unsupported_by_model",
      "generationConfig.responseMimeType",
    ],
    ["hi", "invalid_json", null],
  ])("rejects %j as %s, naming %s", (body, code, param) => {
    expect(refusal(body)).toEqual([code, param]);
  });
});
