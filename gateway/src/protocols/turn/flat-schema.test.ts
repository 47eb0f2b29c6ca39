import { expect, test } from "bun:test";
import { silentTurn } from "../../../test/silent-turn.ts";
import { anthropicMessagesCodec } from "../anthropic-messages/index.ts";
import { bedrockConverseCodec } from "../bedrock-converse/index.ts";
import type { JsonObject } from "../json/value.ts";

const text = { type: "string" };
const id = { type: "object", properties: { id: text }, required: ["id"] };
const path = { type: "object", properties: { path: text, id: { type: "integer" } }, required: ["path"] };

type Codec = typeof anthropicMessagesCodec | typeof bedrockConverseCodec;

function written(codec: Codec, parameters: JsonObject, strict: boolean | null = null) {
  const warnings: string[] = [];
  const messages = [{ role: "user", parts: [{ kind: "text", text: "go", cache: null }] }] as const;
  const tools = [{ name: "look", description: null, parameters, strict, cache: null }];
  const upstreamModel = "anthropic.claude-sonnet-4-5";
  const target = { upstreamModel, account: "acc", traits: {}, newId: (prefix: string) => `${prefix}1` };
  const bytes = codec.writeTurn({ ...silentTurn, messages, tools }, target, (what) => warnings.push(what));
  return { body: JSON.parse(new TextDecoder().decode(bytes)), warnings };
}

const inMessages = (parameters: JsonObject) => written(anthropicMessagesCodec, parameters).body.tools[0].input_schema;

// "input_schema does not support oneOf, allOf, or anyOf at the top level": 400 for the whole request, for one tool of an MCP server.
test.each(["anyOf", "oneOf", "allOf"])("merges %s at the top of a tool schema for Claude", (name) => {
  for (const codec of [anthropicMessagesCodec, bedrockConverseCodec]) {
    const { body, warnings } = written(codec, { type: "object", properties: { all: text }, [name]: [id, path] });
    const schema = body.tools?.[0].input_schema ?? body.toolConfig.tools[0].toolSpec.inputSchema.json;
    expect(schema).toEqual({
      type: "object",
      description: JSON.stringify({ [name]: [id, path] }),
      properties: { all: text, id: { anyOf: [text, { type: "integer" }] }, path: text },
      required: name === "allOf" ? ["id", "path"] : [],
    });
    expect(warnings).toEqual([expect.stringContaining("anyOf")]);
  }
});

test("keeps what every branch requires, and the description", () => {
  const both = { ...path, required: ["path", "id"] };
  const schema = inMessages({ description: "Either.", required: ["all"], oneOf: [id, both] });
  expect(schema.required).toEqual(["all", "id"]);
  expect(schema.description).toStartWith("Either.\n\n");
});

test("resolves references, even circular ones", () => {
  const $defs = { a: { anyOf: [{ $ref: "#/$defs/b" }] }, b: { ...id, anyOf: [{ $ref: "#/$defs/a" }] } };
  const schema = inMessages({ $defs, anyOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/none" }, true] });
  expect(schema).toMatchObject({ type: "object", $defs, properties: { id: text }, required: [] });
});

test("keeps branches inside properties", () => {
  const parameters = { type: "object", properties: { at: { anyOf: [text, { type: "null" }] } } };
  expect(written(anthropicMessagesCodec, parameters)).toMatchObject({ warnings: [] });
  expect(inMessages(parameters)).toEqual(parameters);
});

// "For 'array' type, property 'maxItems' is not supported": Claude says the same by Converse, of strict tools alone.
test("adapts a strict tool for Claude on Bedrock like for Anthropic", () => {
  const parameters = { type: "object", properties: { ids: { type: "array", items: text, maxItems: 3 } } };
  const sent = (strict: boolean) => written(bedrockConverseCodec, parameters, strict).body.toolConfig.tools[0].toolSpec;
  expect(sent(true)).toMatchObject({ strict: true });
  expect(sent(true).inputSchema.json).toEqual(
    written(anthropicMessagesCodec, parameters, true).body.tools[0].input_schema,
  );
  expect(JSON.stringify(sent(true).inputSchema.json.properties.ids)).toContain("{maxItems: 3}");
  expect(sent(false).inputSchema.json).toEqual(parameters);
});
