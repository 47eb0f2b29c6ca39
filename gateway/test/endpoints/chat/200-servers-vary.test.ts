import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { StartedGateway } from "../../started-gateway.ts";
import { reasoningGateway, type Served, toldTo } from "../reasoning-gateway.ts";

const usual: Served = { kind: "openai-compatible", model: "usual" };
const older: Served = {
  kind: "openai-compatible",
  model: "older",
  settings: { output_cap: "max_tokens", stream_options: false, schema_output: false },
};
const newer: Served = {
  kind: "vllm",
  model: "newer",
  settings: { output_cap: "max_completion_tokens", endpoints: ["chat"] },
};

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await reasoningGateway([usual, older, newer]);
});
afterAll(() => gateway.stop());

const messages = [{ role: "user", content: "hi" }];
const chat = (served: Served, more: object) => toldTo(gateway, served, "/v1/chat/completions", { messages, ...more });
const translated = (served: Served, more: object) =>
  toldTo(gateway, served, "/v1/responses", { input: "hi", store: false, ...more });

describe("the cap on output is called as the server calls it", () => {
  test("in a body that passes", async () => {
    expect((await chat(usual, { max_completion_tokens: 9 })).body).toMatchObject({ max_completion_tokens: 9 });
    expect((await chat(older, { max_completion_tokens: 9 })).body).toMatchObject({ max_tokens: 9 });
    expect((await chat(newer, { max_tokens: 9 })).body).toMatchObject({ max_completion_tokens: 9 });
  });

  test("and in one that is translated", async () => {
    expect((await translated(usual, { max_output_tokens: 20 })).body).toMatchObject({ max_completion_tokens: 20 });
    expect((await translated(older, { max_output_tokens: 20 })).body).toMatchObject({ max_tokens: 20 });
    expect((await translated(newer, { max_output_tokens: 20 })).body).toMatchObject({ max_completion_tokens: 20 });
  });
});

test("a server that refuses stream_options gets none, whoever asks for them", async () => {
  for (const tell of [chat, translated]) {
    expect((await tell(usual, { stream: true })).body["stream_options"]).toEqual({ include_usage: true });
    const { body, status } = await tell(older, { stream: true });
    expect([status, body["stream"], body["stream_options"]]).toEqual([200, true, undefined]);
  }
  const asked = await chat(older, { stream: true, stream_options: { include_usage: true } });
  expect(asked.body["stream_options"]).toBeUndefined();
});

test("a server without schemas is asked for JSON and told the schema in words", async () => {
  const schema = {
    type: "object",
    properties: { a: { type: "string" } },
    required: ["a"],
    additionalProperties: false,
  };
  const text = { format: { type: "json_schema", name: "x", schema, strict: true } };
  expect((await translated(usual, { text })).body["response_format"]).toMatchObject({ type: "json_schema" });
  const { body, warnings } = await translated(older, { text });
  expect(body["response_format"]).toEqual({ type: "json_object" });
  expect(warnings).toContain("schema");
});
