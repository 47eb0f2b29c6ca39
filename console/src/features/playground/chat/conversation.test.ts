import { expect, test } from "bun:test";
import {
  chatBody,
  messagesOf,
  nothingWritten,
  plainSettings,
  type Turn,
  type UserInput,
  type Written,
} from "./conversation.ts";
import { noReply, type Reply } from "./reply.ts";

const say = (text: string, more: Partial<Written> = {}): UserInput => ({
  kind: "message",
  ...nothingWritten,
  text,
  ...more,
});
const turn = (asked: UserInput, reply: Partial<Reply>, state: Turn["state"] = "done"): Turn => ({
  id: 1,
  model: "m",
  input: asked,
  reply: { ...noReply, ...reply },
  state,
  served: null,
  problem: null,
});
const calls = [
  { index: 0, id: "c1", name: "weather", arguments: "{}" },
  { index: 1, id: "c2", name: "time", arguments: "{}" },
];

test("failed and empty turns are not sent, and reasoning never is", () => {
  const turns = [
    turn(say("one"), { text: "1", thinking: "hm" }),
    turn(say("lost"), { text: "half" }, "failed"),
    turn(say("quiet"), {}, "stopped"),
    turn(say("cut"), { text: "partl" }, "stopped"),
  ];
  expect(messagesOf(" ", turns, say("next"))).toEqual([
    { role: "user", content: "one" },
    { role: "assistant", content: "1" },
    { role: "user", content: "cut" },
    { role: "assistant", content: "partl" },
    { role: "user", content: "next" },
  ]);
});

test("every tool call gets a result, even if the user sends another message instead", () => {
  const called = turn(say("weather?"), { toolCalls: calls });
  const messages = messagesOf("Be terse.", [called], { kind: "results", results: { c1: "rain" } });
  expect(messages.map((message) => message.role)).toEqual(["system", "user", "assistant", "tool", "tool"]);
  expect(messages[3]).toEqual({ role: "tool", tool_call_id: "c1", content: "rain" });
  expect(messages[4]).toMatchObject({ tool_call_id: "c2", content: "This tool was not run." });
  const skipped = messagesOf("", [called], say("never mind"));
  expect(skipped.map((message) => message.role)).toEqual(["user", "assistant", "tool", "tool", "user"]);
});

test("tool results can be sent again after a failure", () => {
  const called = turn(say("weather?"), { toolCalls: calls.slice(0, 1) });
  const failed = turn({ kind: "results", results: { c1: "rain" } }, {}, "failed");
  expect(messagesOf("", [called, failed], { kind: "results", results: { c1: "sun" } }).at(-1)).toEqual({
    role: "tool",
    tool_call_id: "c1",
    content: "sun",
  });
});

test("images and files are sent with the text, and unset settings use the model's defaults", () => {
  const files = [{ id: "file-1", name: "a.pdf" }];
  const messages = messagesOf("", [], say("what is it?", { pictures: ["data:image/png;base64,AA=="], files }));
  expect(messages[0]?.content).toEqual([
    { type: "text", text: "what is it?" },
    { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } },
    { type: "file", file: { file_id: "file-1" } },
  ]);
  expect(messagesOf("", [], say("", { files }))[0]?.content).toEqual([{ type: "file", file: { file_id: "file-1" } }]);
  const nothing = { tools: [], more: {} };
  expect(Object.keys(chatBody("m", messages, plainSettings, nothing))).toEqual([
    "model",
    "messages",
    "stream",
    "stream_options",
  ]);
  const settings = { ...plainSettings, temperature: 0, maxTokens: 5, stop: ["END"] };
  expect(chatBody("m", messages, settings, { tools: [{ type: "function" }], more: { seed: 1 } })).toMatchObject({
    temperature: 0,
    max_completion_tokens: 5,
    stop: ["END"],
    tools: [{ type: "function" }],
    seed: 1,
  });
});
