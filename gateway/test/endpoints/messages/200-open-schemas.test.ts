import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { StartedGateway } from "../../started-gateway.ts";
import { reasoningGateway, sendTo, type UpstreamModel } from "../reasoning-gateway.ts";

const responses: UpstreamModel = { kind: "openai", model: "gpt-5.1" };
const chat: UpstreamModel = { kind: "openai-compatible", model: "any" };

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await reasoningGateway([responses, chat]);
});
afterAll(() => gateway.stop());

interface UpstreamTool {
  readonly parameters?: unknown;
  readonly function?: { readonly parameters: unknown };
}

async function schemaReceived(served: UpstreamModel, input_schema: object, strict?: boolean): Promise<unknown> {
  const tool = { name: "f", input_schema, ...(strict === undefined ? {} : { strict }) };
  const request = { max_tokens: 100, tools: [tool], messages: [{ role: "user", content: "hi" }] };
  const { body, status, warnings } = await sendTo(gateway, served, "/v1/messages", request);
  expect([status, warnings]).toEqual([200, ""]);
  const [sent] = body["tools"] as readonly UpstreamTool[];
  return sent?.parameters ?? sent?.function?.parameters;
}

describe.each([
  ["Responses", responses],
  ["chat completions", chat],
] as const)("a schema sent to %s", (_, served) => {
  test("gets `properties` in every object that has none", async () => {
    const open = { type: "object" };
    const closed = { type: "object", properties: {} };
    const schemaOf = (inner: object): object => ({
      type: "object",
      description: "d",
      properties: {
        type: inner,
        list: { type: "array", items: inner },
        either: { anyOf: [inner, { type: "null" }, { $ref: "#/$defs/x" }] },
        maybe: { ...inner, type: ["object", "null"], additionalProperties: { type: "string" } },
        plain: { enum: [{ type: "object" }], default: { type: "object" }, examples: [{ type: "object" }] },
      },
      additionalProperties: inner,
      $defs: { x: inner, properties: inner },
      required: ["type"],
    });
    expect(await schemaReceived(served, open)).toEqual(closed);
    expect(await schemaReceived(served, schemaOf(open))).toEqual(schemaOf(closed));
    expect(await schemaReceived(served, { $ref: "#/$defs/x", type: "object", $defs: { x: open } })).toEqual({
      $ref: "#/$defs/x",
      type: "object",
      properties: {},
      $defs: { x: closed },
    });
  });

  test("closes the added objects of a strict schema, and leaves a complete schema unchanged", async () => {
    const strict = {
      type: "object",
      properties: { a: { type: "object" } },
      required: ["a"],
      additionalProperties: false,
    };
    expect(await schemaReceived(served, strict, true)).toEqual({
      ...strict,
      properties: { a: { type: "object", properties: {}, required: [], additionalProperties: false } },
    });
    const whole = { type: "object", properties: { a: { type: "string" } }, additionalProperties: true };
    expect(await schemaReceived(served, whole)).toEqual(whole);
  });
});

test("completes the schemas of Responses functions and response formats", async () => {
  const { body } = await sendTo(gateway, chat, "/v1/responses", {
    input: "hi",
    store: false,
    tools: [{ type: "function", name: "f", parameters: null, strict: false }],
    text: { format: { type: "json_schema", name: "x", schema: { type: "object" } } },
  });
  expect((body["tools"] as readonly UpstreamTool[])[0]?.function?.parameters).toEqual({
    type: "object",
    properties: {},
  });
  expect(body["response_format"]).toMatchObject({ json_schema: { schema: { type: "object", properties: {} } } });
});
