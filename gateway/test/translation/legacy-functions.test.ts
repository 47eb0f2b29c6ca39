import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AnsweringGateway, paths, startAnsweringGateway } from "./answering-gateway.ts";

let gateway: AnsweringGateway;
beforeAll(async () => {
  gateway = await startAnsweringGateway();
});
afterAll(() => gateway.stop());

const usage = { input_tokens: 10, output_tokens: 5 };
const call = (id: string) => ({ type: "tool_use", id, name: "look", input: { a: 1 } });
const message = { id: "msg_1", type: "message", role: "assistant", model: "up", usage };
const functions = [{ name: "look", parameters: { type: "object", properties: { a: { type: "number" } } } }];
const ask = { model: "of-messages", messages: [{ role: "user", content: "x" }], functions };
const answered = { ...message, content: [call("toolu_1")], stop_reason: "tool_use" };

test("a caller of functions gets function_call back, and its reason to stop", async () => {
  const answer = await gateway.call(paths.chat, ask, answered);
  expect([answer.status, answer.headers.get("x-sluice-warnings")]).toEqual([200, null]);
  const { choices } = (await answer.json()) as { choices: { message: object; finish_reason: string }[] };
  expect(choices[0]).toMatchObject({
    message: { content: null, function_call: { name: "look", arguments: '{"a":1}' } },
    finish_reason: "function_call",
  });
  expect(choices[0]?.message).not.toHaveProperty("tool_calls");
  // It can be told of one call only, so one is asked for.
  expect(gateway.sent()).toMatchObject({ tool_choice: { disable_parallel_tool_use: true } });
});

test("and so in a stream", async () => {
  const answer = await gateway.call(paths.chat, { ...ask, stream: true }, [
    { type: "message_start", message: { ...message, content: [], stop_reason: null } },
    { type: "content_block_start", index: 0, content_block: { ...call("toolu_1"), input: {} } },
    { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: '{"a":' } },
    { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: "1}" } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "tool_use" }, usage },
    { type: "message_stop" },
  ]);
  const told = await answer.text();
  const chunks = [...told.matchAll(/^data: (\{.*)$/gm)].map(([, text]) => JSON.parse(text ?? "").choices[0]);
  const pieces = chunks.flatMap((choice) => choice?.delta.function_call ?? []);
  expect(pieces[0]?.name).toBe("look");
  expect(pieces.map((piece) => piece.arguments).join("")).toBe('{"a":1}');
  expect(chunks.findLast((choice) => choice?.finish_reason)?.finish_reason).toBe("function_call");
  expect(told).not.toContain("tool_calls");
});

test("a second call is left out with a warning", async () => {
  const answer = await gateway.call(paths.chat, ask, { ...answered, content: [call("toolu_1"), call("toolu_2")] });
  expect(answer.headers.get("x-sluice-warnings")).toContain("calls after the first");
  await answer.text();
});

test("the conversation goes on in the words of that time", async () => {
  const messages = [
    ...ask.messages,
    { role: "assistant", content: null, function_call: { name: "look", arguments: '{"a":1}' } },
    { role: "function", name: "look", content: "seen" },
  ];
  const done = { ...message, content: [{ type: "text", text: "done" }], stop_reason: "end_turn" };
  const answer = await gateway.call(paths.chat, { ...ask, messages }, done);
  expect([answer.status, answer.headers.get("x-sluice-warnings")]).toEqual([200, null]);
  expect(await answer.json()).toMatchObject({ choices: [{ message: { content: "done" }, finish_reason: "stop" }] });
  const { messages: sent } = gateway.sent() as { messages: { content: { type: string }[] }[] };
  expect(sent.slice(1).map(({ content }) => content[0]?.type)).toEqual(["tool_use", "tool_result"]);
});
