import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI from "openai";
import { aliceKey } from "../started-gateway.ts";
import { type AnsweringGateway, startAnsweringGateway } from "./answering-gateway.ts";

let gateway: AnsweringGateway;
beforeAll(async () => {
  gateway = await startAnsweringGateway();
});
afterAll(() => gateway.stop());

const usage = { input_tokens: 10, output_tokens: 5 };
const start = { type: "message_start", message: { id: "msg_1", type: "message", role: "assistant", usage } };
const end = (stop_reason: string) => [
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason }, usage },
  { type: "message_stop" },
];
const callWithoutInput = [
  start,
  {
    type: "content_block_start",
    index: 0,
    content_block: { type: "tool_use", id: "toolu_1", name: "get_time", input: {} },
  },
  { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: "" } },
  ...end("tool_use"),
];
const finalAnswer = [
  start,
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "It is noon." } },
  ...end("end_turn"),
];

test("lets OpenAI's SDK run a tool that Claude calls without arguments in a stream", async () => {
  gateway.respondWith(callWithoutInput, finalAnswer);
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: aliceKey, maxRetries: 0 });
  const toolInputs: object[] = [];
  const runner = client.chat.completions.runTools({
    model: "of-messages",
    stream: true,
    messages: [{ role: "user", content: "What time is it?" }],
    tools: [
      {
        type: "function",
        function: {
          name: "get_time",
          description: "the time",
          parameters: { type: "object", properties: {} },
          parse: JSON.parse,
          function: (input: object) => {
            toolInputs.push(input);
            return "noon";
          },
        },
      },
    ],
  });
  expect(await runner.finalContent()).toBe("It is noon.");
  expect(toolInputs).toEqual([{}]);
  expect(gateway.sent()["messages"]).toMatchObject([
    { role: "user" },
    { role: "assistant", content: [{ type: "tool_use", input: {} }] },
    { role: "user", content: [{ type: "tool_result", content: "noon" }] },
  ]);
});
