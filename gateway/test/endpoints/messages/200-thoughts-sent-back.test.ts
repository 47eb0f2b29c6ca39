import { afterAll, beforeAll, expect, test } from "bun:test";
import type { StartedGateway } from "../../started-gateway.ts";
import { nameOf, reasoningGateway, sendTo, type UpstreamModel } from "../reasoning-gateway.ts";
import { version } from "./claude-gateway.ts";

const server: UpstreamModel = { kind: "openai-compatible", model: "deepseek-v4-pro" };
const vllm: UpstreamModel = {
  kind: "vllm",
  model: "kimi-k2.6",
  settings: { reasoning_field: "reasoning_content", endpoints: ["chat"] },
};
const withoutReasoning: UpstreamModel = {
  kind: "openai-compatible",
  model: "some",
  settings: { reasoning_field: "none" },
};
const kimi: UpstreamModel = { kind: "moonshot", model: "kimi-k2.6", settings: { endpoints: ["chat"] } };

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await reasoningGateway([server, vllm, withoutReasoning, kimi]);
});
afterAll(() => gateway.stop());

interface Message {
  readonly role: string;
  readonly tool_calls?: readonly unknown[];
  readonly reasoning_content?: string;
}

const tool = { name: "f", input_schema: { type: "object", properties: {} } };
const thinking = { type: "enabled", budget_tokens: 1_024 };

/** One turn of an agent: its question, the model's answer with a tool call, and the result of that call. */
async function turn(served: UpstreamModel, history: readonly unknown[], text: string): Promise<readonly unknown[]> {
  const script = { tool_calls: 1, reasoning_tokens: 3, reasoning_field: "reasoning_content" };
  const question = { role: "user", content: `${text} [[sim ${JSON.stringify(script)}]]` };
  const body = { model: nameOf(served), max_tokens: 4_000, tools: [tool], thinking, messages: [...history, question] };
  const answer = await gateway.post("/v1/messages", body, { headers: version });
  const { content } = (await answer.json()) as { content: readonly { type: string; id?: string }[] };
  const id = content.find(({ type }) => type === "tool_use")?.id;
  const results = [
    { type: "tool_result", tool_use_id: id, content: "done" },
    { type: "text", text: "<system-reminder>be brief</system-reminder>" },
  ];
  return [...history, question, { role: "assistant", content }, { role: "user", content: results }];
}

async function send(served: UpstreamModel, messages: readonly unknown[], more: object = { thinking }) {
  const request = { max_tokens: 4_000, tools: [tool], messages, ...more };
  const { body, warnings, status } = await sendTo(gateway, served, "/v1/messages", request);
  const calls = (body["messages"] as readonly Message[]).filter((call) => call.tool_calls !== undefined);
  return { thoughts: calls.map((call) => call.reasoning_content), warnings, status };
}

test.each([
  ["openai-compatible", server],
  ["a server with a configured field", vllm],
])("sends the thoughts before every tool call back to %s, also in later turns", async (_, served) => {
  const first = await turn(served, [], "use f now");
  const thought = (await send(served, first)).thoughts[0];
  expect(thought).toMatch(/\w/);
  const next = [...first, { role: "assistant", content: [{ type: "text", text: "it is done" }] }];
  const second = await turn(served, next, "use f again");
  const { thoughts, warnings, status } = await send(served, second);
  expect([status, thoughts.length, warnings]).toEqual([200, 2, ""]);
  for (const thought of thoughts) expect(thought).toMatch(/\w/);
});

test("drops thoughts, with a warning, when no field is configured for them", async () => {
  const { thoughts, warnings } = await send(withoutReasoning, await turn(withoutReasoning, [], "use f now"));
  expect(thoughts).toEqual([undefined]);
  expect(warnings).toContain("reasoning before earlier tool calls is not accepted");
});

test("sends placeholder thoughts for another model's tool call to a vendor that requires thoughts", async () => {
  const history = await turn(withoutReasoning, [], "use f now");
  expect((await send(kimi, history)).thoughts).toEqual(["."]);
  expect((await send(server, history)).thoughts).toEqual(["."]);
  expect((await send(kimi, history, { thinking: { type: "disabled" } })).thoughts).toEqual([undefined]);
  const own = (await send(kimi, await turn(kimi, [], "use f now"))).thoughts;
  expect(own[0]).toMatch(/\w/);
});
