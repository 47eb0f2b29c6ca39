import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AnsweringGateway, paths, startAnsweringGateway } from "./answering-gateway.ts";

let gateway: AnsweringGateway;
beforeAll(async () => {
  gateway = await startAnsweringGateway();
});
afterAll(() => gateway.stop());

const usage = { input_tokens: 10, output_tokens: 5 };
const call = (id: string) => ({ type: "tool_use", id, name: "search", input: { a: 1 } });
const message = { id: "msg_1", type: "message", role: "assistant", model: "up", usage };
const functions = [{ name: "search", parameters: { type: "object", properties: { a: { type: "number" } } } }];
const request = { model: "of-messages", messages: [{ role: "user", content: "x" }], functions };
const answerWithCall = { ...message, content: [call("toolu_1")], stop_reason: "tool_use" };

test("returns function_call and its finish reason to a caller that sends functions", async () => {
  const answer = await gateway.call(paths.chat, request, answerWithCall);
  expect([answer.status, answer.headers.get("x-sluice-warnings")]).toEqual([200, null]);
  const { choices } = (await answer.json()) as { choices: { message: object; finish_reason: string }[] };
  expect(choices[0]).toMatchObject({
    message: { content: null, function_call: { name: "search", arguments: '{"a":1}' } },
    finish_reason: "function_call",
  });
  expect(choices[0]?.message).not.toHaveProperty("tool_calls");
  // The legacy form can return only one call, so only one is requested.
  expect(gateway.sent()).toMatchObject({ tool_choice: { disable_parallel_tool_use: true } });
});

test("returns them in a stream", async () => {
  const answer = await gateway.call(paths.chat, { ...request, stream: true }, [
    { type: "message_start", message: { ...message, content: [], stop_reason: null } },
    { type: "content_block_start", index: 0, content_block: { ...call("toolu_1"), input: {} } },
    { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: '{"a":' } },
    { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: "1}" } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "tool_use" }, usage },
    { type: "message_stop" },
  ]);
  const text = await answer.text();
  const chunks = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data ?? "").choices[0]);
  const pieces = chunks.flatMap((choice) => choice?.delta.function_call ?? []);
  expect(pieces[0]?.name).toBe("search");
  expect(pieces.map((piece) => piece.arguments).join("")).toBe('{"a":1}');
  expect(chunks.findLast((choice) => choice?.finish_reason)?.finish_reason).toBe("function_call");
  expect(text).not.toContain("tool_calls");
});

test("drops a second call with a warning", async () => {
  const answer = await gateway.call(paths.chat, request, {
    ...answerWithCall,
    content: [call("toolu_1"), call("toolu_2")],
  });
  expect(answer.headers.get("x-sluice-warnings")).toContain("calls after the first");
  await answer.text();
});

test("continues the conversation with legacy messages", async () => {
  const messages = [
    ...request.messages,
    { role: "assistant", content: null, function_call: { name: "search", arguments: '{"a":1}' } },
    { role: "function", name: "search", content: "found" },
  ];
  const done = { ...message, content: [{ type: "text", text: "done" }], stop_reason: "end_turn" };
  const answer = await gateway.call(paths.chat, { ...request, messages }, done);
  expect([answer.status, answer.headers.get("x-sluice-warnings")]).toEqual([200, null]);
  expect(await answer.json()).toMatchObject({ choices: [{ message: { content: "done" }, finish_reason: "stop" }] });
  const { messages: sent } = gateway.sent() as { messages: { content: { type: string }[] }[] };
  expect(sent.slice(1).map(({ content }) => content[0]?.type)).toEqual(["tool_use", "tool_result"]);
});
