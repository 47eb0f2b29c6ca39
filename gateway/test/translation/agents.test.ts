import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type AnsweringGateway, paths, startAnsweringGateway } from "./answering-gateway.ts";

let gateway: AnsweringGateway;
beforeAll(async () => {
  gateway = await startAnsweringGateway();
});
afterAll(() => gateway.stop());

const messages = [{ role: "user", content: "hello" }];
const asked = { max_tokens: 100, messages };

/** A stream whose rest comes only when its beginning has been read: what is said by then cannot be taken back. */
function inTwoPieces(first: string, rest: string): { response: Response; goOn: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const body = new ReadableStream({
    async start(controller) {
      controller.enqueue(new TextEncoder().encode(first));
      await promise;
      controller.enqueue(new TextEncoder().encode(rest));
      controller.close();
    },
  });
  return { response: new Response(body, { headers: { "content-type": "text/event-stream" } }), goOn: resolve };
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

  test("is a failure in the stream and in the ledger, paid for as the upstream says", async () => {
    const { response: answer, goOn } = inTwoPieces(events.slice(0, 1).join(""), events.slice(1).join(""));
    const response = await gateway.call(paths.messages, { ...asked, model: "of-chat", stream: true }, answer);
    const { first, rest } = readInTwo(response);
    expect(await first).toContain("half");
    goOn();
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

  test("is one where a whole answer came for a stream that was asked for", async () => {
    const whole = { id: "c1", object: "chat.completion", model: "up", choices: [choice], usage };
    const response = await gateway.call(paths.responses, { model: "of-chat", input: "hello", stream: true }, whole);
    expect(response.status).toBe(502);
    await response.text();
    expect((await entryOf(response))?.outcome).toBe("failed");
  });
});

describe("a prompt that is found to be too long once the stream has begun", () => {
  const message = "Your input exceeds the context window of this model.";
  const error = { code: "context_length_exceeded", message };
  const response = { id: "resp_1", object: "response", model: "gpt-5", output: [] };
  const event = (data: { readonly type?: string; readonly [member: string]: unknown }): string =>
    `${data.type === undefined ? "" : `event: ${data.type}\n`}data: ${JSON.stringify(data)}\n\n`;
  const begun = event({
    type: "response.created",
    response: { ...response, status: "in_progress" },
    sequence_number: 0,
  });
  // Output, after which nothing is tried elsewhere: what is only announced is held back from the caller for a while.
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

  async function told(path: string, ask: object, [first, rest]: readonly [string, string]): Promise<string> {
    const { response: answer, goOn } = inTwoPieces(first, rest);
    const called = await gateway.call(path, { ...ask, stream: true }, answer);
    expect(called.status).toBe(200);
    goOn();
    return called.text();
  }

  // Claude Code makes the conversation shorter when it reads this, and gives up when it reads anything else.
  test("is told to a caller of messages in Anthropic's words", async () => {
    const answer = await told(paths.messages, { ...asked, model: "of-responses" }, [begun + text, failed]);
    expect(answer).toMatch(/event: error\ndata: .*"invalid_request_error".*prompt is too long/);
  });

  test("is told to a caller of chat completions with OpenAI's code", async () => {
    const answer = await told(paths.chat, { messages, model: "of-responses" }, [begun + text, failed]);
    expect(answer).toContain('"code":"context_length_exceeded"');
  });

  test("is told to a caller of responses with the code that Codex looks for", async () => {
    const delta = { role: "assistant", content: "I" };
    const chunk = { id: "c1", object: "chat.completion.chunk", model: "up", choices: [{ index: 0, delta }] };
    const text = await told(paths.responses, { input: "x", model: "of-chat" }, [event(chunk), event({ error })]);
    expect(text).toMatch(/event: response\.failed\ndata: .*"error":\{"code":"context_length_exceeded"/);
  });
});

describe("a tool whose name is longer than the upstream takes", () => {
  const name = `mcp__a_server_with_a_long_name__${"a_tool_with_a_long_name".repeat(3)}`;
  const tools = [{ name, input_schema: { type: "object", properties: {} } }];
  const called = (short: string) => ({
    id: "c1",
    type: "function",
    function: { name: short, arguments: "{}" },
  });

  test.each([true, false])("is called by its own name (stream: %p)", async (stream) => {
    const answer = (short: string): object | object[] => {
      const said = { id: "c1", object: "chat.completion", model: "up" };
      if (!stream) {
        const message = { role: "assistant", content: null, tool_calls: [called(short)] };
        return { ...said, choices: [{ index: 0, message, finish_reason: "tool_calls" }] };
      }
      const delta = { role: "assistant", tool_calls: [{ index: 0, ...called(short) }] };
      return [
        { ...said, choices: [{ index: 0, delta, finish_reason: null }] },
        { ...said, choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
      ];
    };
    const ask = { ...asked, model: "of-chat", stream, tools, tool_choice: { type: "tool", name } };
    await (await gateway.call(paths.messages, ask, answer("look"))).text();
    const sent = gateway.sent() as { tools: [{ function: { name: string } }]; tool_choice: object };
    const short = sent.tools[0].function.name;
    expect(short).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(sent.tool_choice).toEqual({ type: "function", function: { name: short } });
    const response = await gateway.call(paths.messages, ask, answer(short));
    expect(await response.text()).toContain(`"name":"${name}"`);
  });
});

test("what a model that reasons would refuse is not sent to it, and its caller is told", async () => {
  const answer = { id: "resp_1", object: "response", model: "gpt-5", status: "completed", output: [] };
  const response = await gateway.call(paths.messages, { ...asked, model: "of-responses", temperature: 0 }, answer);
  await response.text();
  expect(gateway.sent()).not.toContainKey("temperature");
  expect(response.headers.get("x-sluice-warnings")).toContain("temperature");
});

test("a byte order mark ahead of a whole answer is passed over", async () => {
  const answer = {
    id: "c1",
    object: "chat.completion",
    model: "up",
    choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  };
  const marked = (): Response =>
    new Response(`\uFEFF${JSON.stringify(answer)}`, { headers: { "content-type": "application/json" } });
  for (const path of [paths.chat, paths.messages]) {
    const response = await gateway.call(path, { ...asked, model: "of-chat" }, marked());
    expect(response.status).toBe(200);
    expect(await response.text()).toContain("hello");
    expect(await entryOf(response)).toMatchObject({ outcome: "succeeded", usage: { inputUncached: 10, output: 5 } });
  }
});
