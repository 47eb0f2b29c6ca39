import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { StartedGateway } from "../../started-gateway.ts";
import { reasoningGateway, type Served, toldTo } from "../reasoning-gateway.ts";

const responses: Served = { kind: "openai", model: "gpt-5.1" };
const chat: Served = { kind: "openai-compatible", model: "any" };

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await reasoningGateway([responses, chat]);
});
afterAll(() => gateway.stop());

interface SentTool {
  readonly parameters?: unknown;
  readonly function?: { readonly parameters: unknown };
}

async function told(served: Served, input_schema: object, strict?: boolean): Promise<unknown> {
  const tool = { name: "f", input_schema, ...(strict === undefined ? {} : { strict }) };
  const asked = { max_tokens: 100, tools: [tool], messages: [{ role: "user", content: "hi" }] };
  const { body, status, warnings } = await toldTo(gateway, served, "/v1/messages", asked);
  expect([status, warnings]).toEqual([200, ""]);
  const [sent] = body["tools"] as readonly SentTool[];
  return sent?.parameters ?? sent?.function?.parameters;
}

describe.each([
  ["Responses", responses],
  ["chat completions", chat],
] as const)("a schema on its way to %s", (_, served) => {
  test("says the properties of every object in it, if only that there are none", async () => {
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
    expect(await told(served, open)).toEqual(closed);
    expect(await told(served, schemaOf(open))).toEqual(schemaOf(closed));
    expect(await told(served, { $ref: "#/$defs/x", type: "object", $defs: { x: open } })).toEqual({
      $ref: "#/$defs/x",
      type: "object",
      properties: {},
      $defs: { x: closed },
    });
  });

  test("is closed there where it is strict, and stays as it is where nothing is missing", async () => {
    const strict = {
      type: "object",
      properties: { a: { type: "object" } },
      required: ["a"],
      additionalProperties: false,
    };
    expect(await told(served, strict, true)).toEqual({
      ...strict,
      properties: { a: { type: "object", properties: {}, required: [], additionalProperties: false } },
    });
    const whole = { type: "object", properties: { a: { type: "string" } }, additionalProperties: true };
    expect(await told(served, whole)).toEqual(whole);
  });
});

test("a function of Responses without parameters, and a schema of the answer, are mended as well", async () => {
  const { body } = await toldTo(gateway, chat, "/v1/responses", {
    input: "hi",
    store: false,
    tools: [{ type: "function", name: "f", parameters: null, strict: false }],
    text: { format: { type: "json_schema", name: "x", schema: { type: "object" } } },
  });
  expect((body["tools"] as readonly SentTool[])[0]?.function?.parameters).toEqual({ type: "object", properties: {} });
  expect(body["response_format"]).toMatchObject({ json_schema: { schema: { type: "object", properties: {} } } });
});
