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
])("a messages request's %s is named when it cannot be carried", async (name, more) => {
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
])("a Responses request's %s is named when it cannot be carried", async (name, more) => {
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
])("a response that broke off for %s is not told as whole", async (reason, finish, warning) => {
  const broken = { ...response, status: "incomplete", incomplete_details: { reason } };
  const answer = await gateway.call(paths.chat, { model: "of-responses", messages }, broken);
  expect(await answer.json()).toMatchObject({ choices: [{ finish_reason: finish }] });
  const warnings = answer.headers.get("x-sluice-warnings");
  if (warning === null) expect(warnings).toBeNull();
  else expect(warnings).toContain(warning);
});

test("a message that ended in a compaction is to be sent again, and says so", async () => {
  const answer = await gateway.call(
    paths.chat,
    { model: "of-messages", messages },
    { ...message, stop_reason: "compaction" },
  );
  expect(answer.headers.get("x-sluice-warnings")).toContain("paused");
  await answer.text();
});

test("what an answer holds beside what is read is named: logprobs, a container, code that called a tool", async () => {
  const logprobs = { content: [{ token: "x", logprob: -1, bytes: null, top_logprobs: [] }] };
  const chat = { ...completion, choices: [{ ...completion.choices[0], logprobs }] };
  const ask = { max_tokens: 64, messages };
  const one = await gateway.call(paths.messages, { ...ask, model: "of-chat" }, chat);
  expect(one.headers.get("x-sluice-warnings")).toContain("logprobs");
  await one.text();
  const caller = { type: "code_execution_20250825", tool_id: "srvtoolu_1" };
  const content = [{ type: "tool_use", id: "toolu_1", name: "f", input: {}, caller }];
  const told = { ...message, content, container: { id: "c", expires_at: "x" }, stop_reason: "tool_use" };
  const two = await gateway.call(paths.chat, { model: "of-messages", messages }, told);
  const warnings = two.headers.get("x-sluice-warnings");
  for (const name of ["container", "caller"]) expect(warnings).toContain(name);
  await two.text();
});
