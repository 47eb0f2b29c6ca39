import { describe, expect, test } from "bun:test";
import type { Turn, TurnPart } from "#core/index.ts";
import { silentTurn } from "../../../test/silent-turn.ts";
import { readGeminiTurn } from "./read-turn.ts";
import { writeGeminiTurn } from "./write-turn.ts";

const messages: Turn["messages"] = [{ role: "user", parts: [{ kind: "text", text: "hi", cache: null }] }];
const tool = { name: "look", description: null, parameters: null, strict: null, cache: null };
const schema = { type: "object", properties: { city: { type: "string" } } };
const format = { kind: "schema", name: "city", description: null, schema, strict: true } as const;

function write(turn: Partial<Turn>, upstreamModel = "gemini-2.5-flash") {
  const warnings: string[] = [];
  const target = { upstreamModel, account: "acc", traits: {}, newId: (prefix: string) => `${prefix}1` };
  const bytes = writeGeminiTurn({ ...silentTurn, messages, ...turn }, target, (what) => warnings.push(what));
  return { body: JSON.parse(new TextDecoder().decode(bytes)), warnings };
}

describe("adapting requests that Gemini would reject", () => {
  // "Function calling with a response mime type: 'application/json' is unsupported"
  test("before Gemini 3, requests JSON in the instructions if there are functions", () => {
    const { body, warnings } = write({ tools: [tool], format });
    expect(body.generationConfig?.responseMimeType).toBeUndefined();
    expect(body.systemInstruction.parts.at(-1).text).toContain(JSON.stringify(schema));
    expect(warnings).toEqual([expect.stringContaining("format of the answer")]);
    expect(write({ tools: [tool], format: { kind: "json" } }).body.systemInstruction.parts).toHaveLength(1);
    expect(write({ tools: [tool], format }, "gemini-3-pro").body).toMatchObject({
      generationConfig: { responseMimeType: "application/json", responseJsonSchema: schema },
    });
    expect(write({ format }).body.generationConfig.responseJsonSchema).toEqual(schema);
  });

  test.each([
    ["image", "image/jpg", "image/jpeg"],
    ["document", "application/json", "text/plain"],
    ["document", "application/xml", "text/plain"],
    ["document", "application/pdf", "application/pdf"],
  ] as const)("sends an %s of type %s as %s", (kind, mediaType, mimeType) => {
    const source = { kind: "base64", mediaType, data: "AAAA" } as const;
    const part: TurnPart = { kind, source, name: null, detail: null, cache: null };
    const { body } = write({ messages: [{ role: "user", parts: [part] }] });
    expect(body.contents[0].parts).toEqual([{ inlineData: { mimeType, data: "AAAA" } }]);
  });
});

describe("reading a Gemini request", () => {
  const read = (request: object): Turn =>
    readGeminiTurn(
      new TextEncoder().encode(JSON.stringify({ contents: [{ role: "user", parts: [{ text: "hi" }] }], ...request })),
      { stream: false },
      () => undefined,
    );

  test("accepts structured error details", () => {
    const answered = (response: object) =>
      read({
        contents: [
          { role: "model", parts: [{ functionCall: { name: "look", args: {} } }] },
          { role: "user", parts: [{ functionResponse: { name: "look", response } }] },
        ],
      }).messages[1]?.parts[0];
    const details = { code: 404, message: "no such file" };
    const parts = [{ kind: "text", text: JSON.stringify(details), cache: null }];
    expect(answered({ error: details })).toMatchObject({ isError: true, parts });
    expect(answered({ error: null })).toMatchObject({ isError: false });
    expect(answered({ output: { error: "none" } })).toMatchObject({ isError: false });
  });

  test("converts schemas within maps", () => {
    const parameters = {
      type: "OBJECT",
      properties: { tags: { type: "OBJECT", additionalProperties: { type: "STRING", maxLength: "9" } } },
    };
    expect(read({ tools: [{ functionDeclarations: [{ name: "f", parameters }] }] }).tools[0]?.parameters).toEqual({
      type: "object",
      properties: { tags: { type: "object", additionalProperties: { type: "string", maxLength: 9 } } },
    });
  });

  test("ignores an empty thinkingConfig", () => {
    const thinking = (thinkingConfig: object) => read({ generationConfig: { thinkingConfig } }).reasoning;
    expect(thinking({})).toBeNull();
    expect(thinking({ includeThoughts: false })).toBeNull();
    expect(thinking({ thinkingBudget: -1 })).not.toBeNull();
    expect(thinking({ includeThoughts: true })?.visible).toBe(true);
  });
});

// Vertex: "Unknown name \"id\" at 'contents[1].parts[0].function_call': Cannot find field."
test("omits ids of calls and results if the upstream rejects them", () => {
  const call = (id: string): TurnPart => ({
    kind: "tool-call",
    id,
    name: "look",
    argumentsText: "{}",
    seal: null,
    cache: null,
  });
  const result = (callId: string): TurnPart => ({
    kind: "tool-result",
    callId,
    name: "look",
    parts: [{ kind: "text", text: callId, cache: null }],
    isError: false,
    cache: null,
  });
  const turns: Turn["messages"] = [
    ...messages,
    { role: "assistant", parts: [call("a"), call("b")] },
    { role: "user", parts: [result("b"), result("a")] },
  ];
  const target = { upstreamModel: "gemini-2.5-pro", account: "acc", traits: { noCallIds: true }, newId: String };
  const bytes = writeGeminiTurn({ ...silentTurn, messages: turns }, target, () => undefined);
  const { contents } = JSON.parse(new TextDecoder().decode(bytes));
  expect(JSON.stringify(contents)).not.toContain('"id"');
  expect(contents[2].parts).toEqual([
    { functionResponse: { name: "look", response: { result: "a" } } },
    { functionResponse: { name: "look", response: { result: "b" } } },
  ]);
});
