import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { StartedGateway } from "../../started-gateway.ts";
import { reasoningGateway, sendTo, type UpstreamModel } from "../reasoning-gateway.ts";

const defaultModel: UpstreamModel = { kind: "openai-compatible", model: "usual" };
const older: UpstreamModel = {
  kind: "openai-compatible",
  model: "older",
  settings: { output_cap: "max_tokens", stream_options: false, schema_output: false },
};
const newer: UpstreamModel = {
  kind: "vllm",
  model: "newer",
  settings: { output_cap: "max_completion_tokens", endpoints: ["chat"] },
};

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await reasoningGateway([defaultModel, older, newer]);
});
afterAll(() => gateway.stop());

const messages = [{ role: "user", content: "hi" }];
const chat = (served: UpstreamModel, more: object) =>
  sendTo(gateway, served, "/v1/chat/completions", { messages, ...more });
const translated = (served: UpstreamModel, more: object) =>
  sendTo(gateway, served, "/v1/responses", { input: "hi", store: false, ...more });

describe("uses the server's name for the output cap", () => {
  test("in a body that is passed through", async () => {
    expect((await chat(defaultModel, { max_completion_tokens: 9 })).body).toMatchObject({ max_completion_tokens: 9 });
    expect((await chat(older, { max_completion_tokens: 9 })).body).toMatchObject({ max_tokens: 9 });
    expect((await chat(newer, { max_tokens: 9 })).body).toMatchObject({ max_completion_tokens: 9 });
  });

  test("in a translated body", async () => {
    expect((await translated(defaultModel, { max_output_tokens: 20 })).body).toMatchObject({
      max_completion_tokens: 20,
    });
    expect((await translated(older, { max_output_tokens: 20 })).body).toMatchObject({ max_tokens: 20 });
    expect((await translated(newer, { max_output_tokens: 20 })).body).toMatchObject({ max_completion_tokens: 20 });
  });
});

test("sends no stream_options to a server that refuses them, even when the caller asks for usage", async () => {
  for (const send of [chat, translated]) {
    expect((await send(defaultModel, { stream: true })).body["stream_options"]).toEqual({ include_usage: true });
    const { body, status } = await send(older, { stream: true });
    expect([status, body["stream"], body["stream_options"]]).toEqual([200, true, undefined]);
  }
  const withOptions = await chat(older, { stream: true, stream_options: { include_usage: true } });
  expect(withOptions.body["stream_options"]).toBeUndefined();
});

test("asks a server without schema output for JSON, with the schema in the prompt", async () => {
  const schema = {
    type: "object",
    properties: { a: { type: "string" } },
    required: ["a"],
    additionalProperties: false,
  };
  const text = { format: { type: "json_schema", name: "x", schema, strict: true } };
  expect((await translated(defaultModel, { text })).body["response_format"]).toMatchObject({ type: "json_schema" });
  const { body, warnings } = await translated(older, { text });
  expect(body["response_format"]).toEqual({ type: "json_object" });
  expect(warnings).toContain("schema");
});
