import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import type { Message, MessageParam, RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages";
import AnthropicPrevious from "anthropic-sdk-previous";
import { type RunningSimulator, serveSimulator } from "../src/index.ts";
import { lastRecord, scripted, thrownBy } from "./sdk-call.ts";

let running: RunningSimulator;
beforeAll(() => {
  running = serveSimulator();
});
afterAll(() => running.stop());

/** Both major versions accept the calls made here, so one set of types serves for both. */
function clientOf(Sdk: typeof Anthropic | typeof AnthropicPrevious, key = "sk-ant-sim-0001"): Anthropic {
  return new Sdk({ baseURL: `http://127.0.0.1:${running.port}`, apiKey: key, maxRetries: 0 }) as unknown as Anthropic;
}

const weather = {
  name: "get_weather",
  input_schema: { type: "object" as const, properties: { city: { type: "string" }, days: { type: "integer" } } },
};
const clock = { name: "get_time", input_schema: { type: "object" as const, properties: {} } };

function requestOf(content: string): { model: string; max_tokens: number; messages: MessageParam[] } {
  return { model: "claude-x", max_tokens: 4096, messages: [{ role: "user", content }] };
}

async function eventsOf(call: PromiseLike<AsyncIterable<RawMessageStreamEvent>>): Promise<RawMessageStreamEvent[]> {
  return Array.fromAsync(await call);
}

describe.each([
  ["@anthropic-ai/sdk", Anthropic],
  ["anthropic-sdk-previous", AnthropicPrevious],
])("messages through %s", (_name, Sdk) => {
  test("returns a Message whose input counts do not overlap", async () => {
    const answer = await clientOf(Sdk).messages.create(
      { ...requestOf("one two three"), system: [{ type: "text", text: "be brief" }] },
      scripted({ tokens: 5, cached_tokens: 2, cache_write_tokens: 1, cache_write_1h_tokens: 1, reasoning_tokens: 7 }),
    );
    expect(answer).toMatchObject({
      type: "message",
      role: "assistant",
      model: "claude-x",
      content: [{ type: "text", text: " the quick brown fox jumps" }],
      stop_reason: "end_turn",
      stop_sequence: null,
      stop_details: null,
      container: null,
      usage: {
        input_tokens: 1,
        cache_read_input_tokens: 2,
        cache_creation_input_tokens: 2,
        cache_creation: { ephemeral_5m_input_tokens: 1, ephemeral_1h_input_tokens: 1 },
        output_tokens: 12,
        output_tokens_details: { thinking_tokens: 7 },
        service_tier: "standard",
      },
    });
    expect(answer._request_id).toMatch(/^req_sim\d+$/);
    expect(await lastRecord(running)).toMatchObject({
      dialect: "anthropic-messages",
      path: "/v1/messages",
      prompt_tokens: 5,
      cached_tokens: 2,
      cache_write_tokens: 2,
      reasoning_tokens: 7,
      output_tokens_emitted: 12,
    });
  });

  test("streams events in the documented order, with one ping and cumulative usage at the end", async () => {
    const events = await eventsOf(
      clientOf(Sdk).messages.create({ ...requestOf("a b"), stream: true }, scripted({ tokens: 2, cached_tokens: 1 })),
    );
    // The client does not pass pings on.
    expect(events.map((event) => event.type)).toEqual([
      "message_start",
      "content_block_start",
      "content_block_delta",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
    expect(events[0]).toMatchObject({
      message: {
        content: [],
        stop_reason: null,
        usage: { input_tokens: 1, cache_read_input_tokens: 1, output_tokens: 1 },
      },
    });
    expect(events.at(-2)).toMatchObject({
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: { input_tokens: 1, cache_read_input_tokens: 1, output_tokens: 2 },
    });
    const record = await lastRecord(running);
    expect(record).toMatchObject({
      output_tokens_emitted: 2,
      terminal_sent: true,
      usage_sent: true,
      events_emitted: 7,
    });
    expect(record.reply_text).toContain('event: ping\ndata: {"type":"ping"}\n\n');
  });

  test("thinking comes first, is signed, and is accepted in the next request only if unchanged", async () => {
    const client = clientOf(Sdk);
    const request = { ...requestOf("use get_weather"), thinking: { type: "adaptive" as const }, tools: [weather] };
    const streamed = await client.messages.stream(request).finalMessage();
    const whole = await client.messages.create(request);
    for (const answer of [streamed, whole]) {
      expect(answer.content.map((block) => block.type)).toEqual(["thinking", "tool_use"]);
      expect(answer.usage.output_tokens_details?.thinking_tokens).toBe(6);
      const followUp = await client.messages.create({
        ...request,
        messages: [...request.messages, ...resultFor(answer)],
      });
      expect(followUp.stop_reason).toBe("end_turn");
      const forged = answer.content.map((block) =>
        block.type === "thinking" ? { ...block, thinking: "something else" } : block,
      );
      const refused = client.messages.create({
        ...request,
        messages: [...request.messages, ...resultFor({ ...answer, content: forged })],
      });
      const error = await thrownBy(refused);
      expect(error).toBeInstanceOf(Sdk.BadRequestError);
      expect(String(error)).toContain("Invalid `signature` in `thinking` block");
    }
  });

  test("returns only a signature for omitted thinking", async () => {
    const request = { ...requestOf("x"), thinking: { type: "adaptive" as const, display: "omitted" as const } };
    const answer = await clientOf(Sdk).messages.create(request);
    expect(answer.content[0]).toMatchObject({ type: "thinking", thinking: "" });
  });

  test("gives parallel tool calls different ids and can put text before them, streamed or not", async () => {
    const client = clientOf(Sdk);
    const request = { ...requestOf("Oslo please"), tools: [weather, clock] };
    const options = scripted({ tool_calls: 2, preamble: true });
    const whole = await client.messages.create(request, options);
    const streamed = await client.messages.stream(request, options).finalMessage();
    for (const answer of [whole, streamed]) {
      expect(answer.stop_reason).toBe("tool_use");
      expect(answer.content.map((block) => block.type)).toEqual(["text", "tool_use", "tool_use"]);
      const calls = answer.content.flatMap((block) => (block.type === "tool_use" ? [block] : []));
      expect(calls.map((call) => [call.name, call.input])).toEqual([
        ["get_weather", { city: "Oslo please", days: 1 }],
        ["get_time", {}],
      ]);
      expect(new Set(calls.map((call) => call.id)).size).toBe(2);
    }
    const single = await client.messages.create(
      { ...request, tool_choice: { type: "auto", disable_parallel_tool_use: true } },
      scripted({ tool_calls: 2 }),
    );
    expect(single.content.length).toBe(1);
  });

  test("counts the same tokens as it bills", async () => {
    const counted = await clientOf(Sdk).messages.countTokens({
      model: "claude-x",
      system: "be brief",
      messages: [{ role: "user", content: "one two" }],
    });
    expect(counted.input_tokens).toBe(4);
  });

  test.each([
    [400, "invalid_request_error"],
    [401, "authentication_error"],
    [402, "billing_error"],
    [403, "permission_error"],
    [404, "not_found_error"],
    [413, "request_too_large"],
    [429, "rate_limit_error"],
    [500, "api_error"],
    [529, "overloaded_error"],
  ])("returns status %i as %s, with a request id and the account's limits", async (status, type) => {
    const error = await thrownBy(clientOf(Sdk).messages.create(requestOf("x"), scripted({ status, retry_after: 3 })));
    if (!(error instanceof Sdk.APIError)) throw new Error("not an API error");
    expect(error.status).toBe(status);
    expect(error.error).toMatchObject({ type: "error", error: { type }, request_id: error.requestID });
    expect(error.headers?.get("retry-after")).toBe("3");
    expect(error.headers?.get("anthropic-ratelimit-input-tokens-remaining")).toBe("399000");
  });

  test("throws for an error in the middle of a stream", async () => {
    const error = await thrownBy(
      eventsOf(clientOf(Sdk).messages.create({ ...requestOf("x"), stream: true }, scripted({ error_event_after: 4 }))),
    );
    expect(error).toBeInstanceOf(Sdk.APIError);
    expect(String(error)).toContain("overloaded_error");
    expect(await lastRecord(running)).toMatchObject({ terminal_sent: false, status: 200 });
  });

  test("lists models in the vendor's format", async () => {
    const page = await clientOf(Sdk).models.list();
    expect(page.data.map((model) => [model.type, model.id])).toEqual([
      ["model", "demo"],
      ["model", "demo-mini"],
    ]);
  });
});

/** The assistant's turn and a result for each of its calls. */
function resultFor(answer: Message): MessageParam[] {
  const calls = answer.content.flatMap((block) => (block.type === "tool_use" ? [block] : []));
  return [
    { role: "assistant", content: answer.content as MessageParam["content"] } as MessageParam,
    { role: "user", content: calls.map((call) => ({ type: "tool_result", tool_use_id: call.id, content: "sunny" })) },
  ];
}

const versionHeaders = { "x-api-key": "k", "anthropic-version": "2023-06-01" };

async function post(
  body: unknown,
  headers: Readonly<Record<string, string>> = versionHeaders,
): Promise<[number, string]> {
  const answer = await fetch(`${running.url}/messages?beta=true`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return [answer.status, await answer.text()];
}

describe("refuses, as the vendor does,", () => {
  const user = { role: "user", content: "x" };
  const use = { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "f", input: {} }] };
  const result = { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "ok" }] };

  test.each([
    ["a missing max_tokens", { model: "m", messages: [user] }, "max_tokens: Field required"],
    ["a first message from the assistant", { messages: [{ role: "assistant", content: "x" }, user] }, '"user" role'],
    ["an empty text block", { messages: [{ role: "user", content: [{ type: "text", text: "" }] }] }, "non-empty"],
    ["a call without a result", { messages: [user, use, user] }, "without `tool_result` blocks immediately after"],
    ["a result without a call", { messages: [user, result] }, "unexpected `tool_use_id`"],
    [
      "thinking with an invalid signature",
      {
        messages: [
          user,
          { role: "assistant", content: [{ type: "thinking", thinking: "t", signature: "c2ln" }] },
          user,
        ],
      },
      "Invalid `signature`",
    ],
    ["a temperature above 1", { temperature: 1.5, messages: [user] }, "temperature: range: 0..1"],
    ["a tool without a schema", { tools: [{ name: "f" }], messages: [user] }, "input_schema: Field required"],
    [
      "a thinking budget that is too small",
      { thinking: { type: "enabled", budget_tokens: 10 }, messages: [user] },
      "greater than or equal to 1024",
    ],
    [
      "a tool call turn without its thinking",
      { max_tokens: 5000, thinking: { type: "enabled", budget_tokens: 1024 }, messages: [user, use, result] },
      "Expected `thinking`",
    ],
  ])("%s", async (name, body, message) => {
    const full = name === "a missing max_tokens" ? body : { model: "m", max_tokens: 10, ...body };
    const [status, text] = await post(full);
    expect(status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({ type: "error", error: { type: "invalid_request_error" } });
    expect(JSON.parse(text).error.message).toContain(message);
  });

  test("sampling parameters, but only in the API version that removed them", async () => {
    const body = { model: "m", max_tokens: 10, temperature: 1, messages: [user] };
    expect((await post(body))[0]).toBe(200);
    const [status, text] = await post(body, { ...versionHeaders, "anthropic-version": "2026-10-21" });
    expect(status).toBe(400);
    expect(text).toContain("temperature: Extra inputs are not permitted");
  });

  test("a missing version, an unknown version, and a missing key", async () => {
    const body = { model: "m", max_tokens: 10, messages: [user] };
    expect((await post(body, { "x-api-key": "k" }))[1]).toContain("anthropic-version: header is required");
    expect((await post(body, { "x-api-key": "k", "anthropic-version": "1999-01-01" }))[0]).toBe(400);
    expect((await post(body, { "anthropic-version": "2023-06-01" }))[0]).toBe(401);
    expect((await post(body, { authorization: "Bearer t", "anthropic-version": "2023-06-01" }))[0]).toBe(200);
    expect(await lastRecord(running)).toMatchObject({ query: "beta=true", body_text: JSON.stringify(body) });
  });
});

test("late_usage reports the input only in message_delta, and pings fill long waits", async () => {
  const body = { model: "m", max_tokens: 10, stream: true, messages: [{ role: "user", content: "a b c" }] };
  const headers = scripted({ tokens: 1, late_usage: true, first_event_ms: 30, keep_alive_ms: 10 }).headers;
  const [, text] = await post(body, { ...versionHeaders, ...headers });
  expect(text.startsWith('event: ping\ndata: {"type":"ping"}\n\n')).toBe(true);
  expect(text).toContain('"usage":{"input_tokens":0,');
  expect(text).toContain('"usage":{"input_tokens":3,');
});
