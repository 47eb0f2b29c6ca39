import { afterAll, beforeAll, expect, test } from "bun:test";
import type { StartedGateway } from "../../started-gateway.ts";
import { nameOf, reasoningGateway, type Served, toldTo } from "../reasoning-gateway.ts";
import { version } from "./claude-gateway.ts";

const server: Served = { kind: "openai-compatible", model: "deepseek-v4-pro" };
const vllm: Served = {
  kind: "vllm",
  model: "kimi-k2.6",
  settings: { reasoning_field: "reasoning_content", endpoints: ["chat"] },
};
const silent: Served = { kind: "openai-compatible", model: "some", settings: { reasoning_field: "none" } };
const kimi: Served = { kind: "moonshot", model: "kimi-k2.6", settings: { endpoints: ["chat"] } };

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await reasoningGateway([server, vllm, silent, kimi]);
});
afterAll(() => gateway.stop());

interface Message {
  readonly role: string;
  readonly tool_calls?: readonly unknown[];
  readonly reasoning_content?: string;
}

const tool = { name: "f", input_schema: { type: "object", properties: {} } };
const thinking = { type: "enabled", budget_tokens: 1_024 };

/** One turn of an agent: what it asks, what it gets, and what it answers to the call in it. */
async function turn(served: Served, history: readonly unknown[], text: string): Promise<readonly unknown[]> {
  const script = { tool_calls: 1, reasoning_tokens: 3, reasoning_field: "reasoning_content" };
  const asked = { role: "user", content: `${text} [[sim ${JSON.stringify(script)}]]` };
  const body = { model: nameOf(served), max_tokens: 4_000, tools: [tool], thinking, messages: [...history, asked] };
  const answer = await gateway.post("/v1/messages", body, { headers: version });
  const { content } = (await answer.json()) as { content: readonly { type: string; id?: string }[] };
  const id = content.find(({ type }) => type === "tool_use")?.id;
  const results = [
    { type: "tool_result", tool_use_id: id, content: "done" },
    { type: "text", text: "<system-reminder>be brief</system-reminder>" },
  ];
  return [...history, asked, { role: "assistant", content }, { role: "user", content: results }];
}

async function tell(served: Served, messages: readonly unknown[], more: object = { thinking }) {
  const asked = { max_tokens: 4_000, tools: [tool], messages, ...more };
  const { body, warnings, status } = await toldTo(gateway, served, "/v1/messages", asked);
  const calls = (body["messages"] as readonly Message[]).filter((one) => one.tool_calls !== undefined);
  return { thoughts: calls.map((one) => one.reasoning_content), warnings, status };
}

test.each([
  ["openai-compatible", server],
  ["a server whose operator names the field", vllm],
])("every tool call keeps the thoughts before it, beside a reminder and in later turns: %s", async (_, served) => {
  const first = await turn(served, [], "use f now");
  const thought = (await tell(served, first)).thoughts[0];
  expect(thought).toMatch(/\w/);
  const next = [...first, { role: "assistant", content: [{ type: "text", text: "it is done" }] }];
  const second = await turn(served, next, "use f again");
  const { thoughts, warnings, status } = await tell(served, second);
  expect([status, thoughts.length, warnings]).toEqual([200, 2, ""]);
  for (const one of thoughts) expect(one).toMatch(/\w/);
});

test("where the operator says that no field takes them, they are left out with a warning", async () => {
  const { thoughts, warnings } = await tell(silent, await turn(silent, [], "use f now"));
  expect(thoughts).toEqual([undefined]);
  expect(warnings).toContain("reasoning before earlier tool calls is not accepted");
});

test("a vendor that refuses calls without thoughts gets the shortest for a call that another model made", async () => {
  const moved = await turn(silent, [], "use f now");
  expect((await tell(kimi, moved)).thoughts).toEqual(["."]);
  expect((await tell(server, moved)).thoughts).toEqual(["."]);
  expect((await tell(kimi, moved, { thinking: { type: "disabled" } })).thoughts).toEqual([undefined]);
  const own = (await tell(kimi, await turn(kimi, [], "use f now"))).thoughts;
  expect(own[0]).toMatch(/\w/);
});
