import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AnsweringGateway, paths, startAnsweringGateway } from "./answering-gateway.ts";

let gateway: AnsweringGateway;
beforeAll(async () => {
  gateway = await startAnsweringGateway();
});
afterAll(() => gateway.stop());

const usage = { input_tokens: 10, output_tokens: 5 };
const completion = {
  id: "c1",
  choices: [{ index: 0, message: { role: "assistant", content: "x" }, finish_reason: "stop" }],
};
const schema = { type: "object", properties: {} };
const messages = [{ role: "user", content: "x" }];
const tool = { name: "f", input_schema: schema };
const fn = { type: "function", name: "f", parameters: schema };

test.each([
  ["allowed_callers", { tools: [{ ...tool, allowed_callers: ["code_execution_20250825"] }] }],
  ["defer_loading", { tools: [{ ...tool, defer_loading: true }] }],
  ["task_budget", { output_config: { task_budget: { total: 9 } } }],
  ["block_binding", { thinking: { type: "adaptive", block_binding: "x" } }],
])("names %s of a Messages request when it cannot be translated", async (name, more) => {
  const body = { model: "of-chat", max_tokens: 64, messages, ...more };
  const answer = await gateway.call(paths.messages, body, completion);
  expect([answer.status, answer.headers.get("x-sluice-warnings")]).toEqual([200, expect.stringContaining(name)]);
  await answer.text();
});

test.each([
  ["async", { tools: [{ ...fn, async: true }] }],
  ["allowed_callers", { tools: [{ ...fn, allowed_callers: ["programmatic"] }] }],
  ["defer_loading", { tools: [{ ...fn, defer_loading: true }] }],
  ["context", { reasoning: { effort: "low", context: "x" } }],
  ["web_search_call.action.sources", { include: ["web_search_call.action.sources"] }],
])("names %s of a Responses request when it cannot be translated", async (name, more) => {
  const answer = await gateway.call(paths.responses, { model: "of-chat", input: "x", ...more }, completion);
  expect([answer.status, answer.headers.get("x-sluice-warnings")]).toEqual([200, expect.stringContaining(name)]);
  await answer.text();
});

const response = { id: "resp_1", object: "response", output: [], usage };
const message = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "up",
  content: [{ type: "text", text: "x" }],
  usage,
};

test.each([
  ["max_messages", "length", null],
  ["max_output_tokens", "length", null],
  ["content_filter", "content_filter", null],
  ["steered", "stop", "paused"],
])("does not return a response that broke off for %s as complete", async (reason, finish, warning) => {
  const incomplete = { ...response, status: "incomplete", incomplete_details: { reason } };
  const answer = await gateway.call(paths.chat, { model: "of-responses", messages }, incomplete);
  expect(await answer.json()).toMatchObject({ choices: [{ finish_reason: finish }] });
  const warnings = answer.headers.get("x-sluice-warnings");
  if (warning === null) expect(warnings).toBeNull();
  else expect(warnings).toContain(warning);
});

test("warns that a message which ended in a compaction is paused", async () => {
  const answer = await gateway.call(
    paths.chat,
    { model: "of-messages", messages },
    { ...message, stop_reason: "compaction" },
  );
  expect(answer.headers.get("x-sluice-warnings")).toContain("paused");
  await answer.text();
});

test("names unread parts of an answer: logprobs, a container, and code that called a tool", async () => {
  const logprobs = { content: [{ token: "x", logprob: -1, bytes: null, top_logprobs: [] }] };
  const chat = { ...completion, choices: [{ ...completion.choices[0], logprobs }] };
  const request = { max_tokens: 64, messages };
  const translatedChat = await gateway.call(paths.messages, { ...request, model: "of-chat" }, chat);
  expect(translatedChat.headers.get("x-sluice-warnings")).toContain("logprobs");
  await translatedChat.text();
  const caller = { type: "code_execution_20250825", tool_id: "srvtoolu_1" };
  const content = [{ type: "tool_use", id: "toolu_1", name: "f", input: {}, caller }];
  const withContainer = { ...message, content, container: { id: "c", expires_at: "x" }, stop_reason: "tool_use" };
  const translatedMessage = await gateway.call(paths.chat, { model: "of-messages", messages }, withContainer);
  const warnings = translatedMessage.headers.get("x-sluice-warnings");
  for (const name of ["container", "caller"]) expect(warnings).toContain(name);
  await translatedMessage.text();
});
