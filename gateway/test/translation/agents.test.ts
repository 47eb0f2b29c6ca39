import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type AnsweringGateway, paths, startAnsweringGateway } from "./answering-gateway.ts";

let gateway: AnsweringGateway;
beforeAll(async () => {
  gateway = await startAnsweringGateway();
});
afterAll(() => gateway.stop());

const messages = [{ role: "user", content: "hello" }];
const request = { max_tokens: 100, messages };

/** A stream whose second part is sent only on request, after the caller has received the first. */
function inTwoPieces(first: string, rest: string): { response: Response; sendRest: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const body = new ReadableStream({
    async start(controller) {
      controller.enqueue(new TextEncoder().encode(first));
      await promise;
      controller.enqueue(new TextEncoder().encode(rest));
      controller.close();
    },
  });
  return { response: new Response(body, { headers: { "content-type": "text/event-stream" } }), sendRest: resolve };
}

function readInTwo(response: Response): { first: Promise<string>; rest: () => Promise<string> } {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  return {
    first: reader.read().then(({ value }) => decoder.decode(value, { stream: true })),
    async rest() {
      let text = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return text;
        text += decoder.decode(value, { stream: true });
      }
    },
  };
}

async function entryOf(response: Response) {
  const requestId = response.headers.get("x-request-id");
  return (await gateway.entries()).find((entry) => entry.requestId === requestId);
}

describe("an answer that its upstream ends with an error", () => {
  const choice = { index: 0, message: { role: "assistant", content: "half" }, finish_reason: "network_error" };
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const chunk = (delta: object, finish_reason: string | null) => ({
    id: "c1",
    object: "chat.completion.chunk",
    model: "up",
    choices: [{ index: 0, delta, finish_reason }],
  });
  const stream = [
    chunk({ role: "assistant", content: "half" }, null),
    chunk({}, "network_error"),
    { id: "c1", object: "chat.completion.chunk", model: "up", choices: [], usage },
  ];
  const events = [...stream.map((event) => JSON.stringify(event)), "[DONE]"].map((data) => `data: ${data}\n\n`);

  test("fails in the stream and in the ledger, and is charged by the upstream's usage", async () => {
    const { response: answer, sendRest } = inTwoPieces(events.slice(0, 1).join(""), events.slice(1).join(""));
    const response = await gateway.call(paths.messages, { ...request, model: "of-chat", stream: true }, answer);
    const { first, rest } = readInTwo(response);
    expect(await first).toContain("half");
    sendRest();
    const text = await rest();
    expect(text).toContain("event: error");
    expect(text).not.toContain("message_stop");
    expect(await entryOf(response)).toMatchObject({
      outcome: "failed",
      errorCode: "upstream_error",
      usage: { inputUncached: 10, output: 5 },
      usageSource: "upstream",
    });
  });

  test("returns 502 for a complete answer if the caller asked for a stream", async () => {
    const whole = { id: "c1", object: "chat.completion", model: "up", choices: [choice], usage };
    const response = await gateway.call(paths.responses, { model: "of-chat", input: "hello", stream: true }, whole);
    expect(response.status).toBe(502);
    await response.text();
    expect((await entryOf(response))?.outcome).toBe("failed");
  });
});

describe("a prompt that turns out to be too long after the stream has begun", () => {
  const message = "Your input exceeds the context window of this model.";
  const error = { code: "context_length_exceeded", message };
  const response = { id: "resp_1", object: "response", model: "gpt-5", output: [] };
  const event = (data: { readonly type?: string; readonly [member: string]: unknown }): string =>
    `${data.type === undefined ? "" : `event: ${data.type}\n`}data: ${JSON.stringify(data)}\n\n`;
  const created = event({
    type: "response.created",
    response: { ...response, status: "in_progress" },
    sequence_number: 0,
  });
  // After this output no retry happens. The caller does not receive the earlier event immediately.
  const text = event({
    type: "response.output_text.delta",
    item_id: "msg_1",
    output_index: 0,
    content_index: 0,
    delta: "I",
    sequence_number: 1,
  });
  const failed = event({
    type: "response.failed",
    response: { ...response, status: "failed", error },
    sequence_number: 2,
  });

  async function streamedText(path: string, body: object, [first, rest]: readonly [string, string]): Promise<string> {
    const { response: answer, sendRest } = inTwoPieces(first, rest);
    const response = await gateway.call(path, { ...body, stream: true }, answer);
    expect(response.status).toBe(200);
    sendRest();
    return response.text();
  }

  // Claude Code shortens the conversation after this error, and fails after any other.
  test("returns Anthropic's error to a caller of Messages", async () => {
    const answer = await streamedText(paths.messages, { ...request, model: "of-responses" }, [created + text, failed]);
    expect(answer).toMatch(/event: error\ndata: .*"invalid_request_error".*prompt is too long/);
  });

  test("returns OpenAI's error code to a caller of chat completions", async () => {
    const answer = await streamedText(paths.chat, { messages, model: "of-responses" }, [created + text, failed]);
    expect(answer).toContain('"code":"context_length_exceeded"');
  });

  test("returns the error code that Codex expects to a caller of Responses", async () => {
    const delta = { role: "assistant", content: "I" };
    const chunk = { id: "c1", object: "chat.completion.chunk", model: "up", choices: [{ index: 0, delta }] };
    const text = await streamedText(paths.responses, { input: "x", model: "of-chat" }, [
      event(chunk),
      event({ error }),
    ]);
    expect(text).toMatch(/event: response\.failed\ndata: .*"error":\{"code":"context_length_exceeded"/);
  });
});

describe("a tool name that is longer than the upstream allows", () => {
  const name = `mcp__a_server_with_a_long_name__${"a_tool_with_a_long_name".repeat(3)}`;
  const tools = [{ name, input_schema: { type: "object", properties: {} } }];
  const toolCall = (short: string) => ({
    id: "c1",
    type: "function",
    function: { name: short, arguments: "{}" },
  });

  test.each([true, false])("is restored in the answer (stream: %p)", async (stream) => {
    const answer = (short: string): object | object[] => {
      const head = { id: "c1", object: "chat.completion", model: "up" };
      if (!stream) {
        const message = { role: "assistant", content: null, tool_calls: [toolCall(short)] };
        return { ...head, choices: [{ index: 0, message, finish_reason: "tool_calls" }] };
      }
      const delta = { role: "assistant", tool_calls: [{ index: 0, ...toolCall(short) }] };
      return [
        { ...head, choices: [{ index: 0, delta, finish_reason: null }] },
        { ...head, choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
      ];
    };
    const body = { ...request, model: "of-chat", stream, tools, tool_choice: { type: "tool", name } };
    await (await gateway.call(paths.messages, body, answer("search"))).text();
    const sent = gateway.sent() as { tools: [{ function: { name: string } }]; tool_choice: object };
    const short = sent.tools[0].function.name;
    expect(short).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(sent.tool_choice).toEqual({ type: "function", function: { name: short } });
    const response = await gateway.call(paths.messages, body, answer(short));
    expect(await response.text()).toContain(`"name":"${name}"`);
  });
});

test("drops fields that a reasoning model rejects, with a warning", async () => {
  const answer = { id: "resp_1", object: "response", model: "gpt-5", status: "completed", output: [] };
  const response = await gateway.call(paths.messages, { ...request, model: "of-responses", temperature: 0 }, answer);
  await response.text();
  expect(gateway.sent()).not.toContainKey("temperature");
  expect(response.headers.get("x-sluice-warnings")).toContain("temperature");
});

test("accepts a byte order mark before a complete answer", async () => {
  const answer = {
    id: "c1",
    object: "chat.completion",
    model: "up",
    choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  };
  const withByteOrderMark = (): Response =>
    new Response(`\uFEFF${JSON.stringify(answer)}`, { headers: { "content-type": "application/json" } });
  for (const path of [paths.chat, paths.messages]) {
    const response = await gateway.call(path, { ...request, model: "of-chat" }, withByteOrderMark());
    expect(response.status).toBe(200);
    expect(await response.text()).toContain("hello");
    expect(await entryOf(response)).toMatchObject({ outcome: "succeeded", usage: { inputUncached: 10, output: 5 } });
  }
});
