import { afterAll, beforeAll, expect, test } from "bun:test";
import type { StartedGateway } from "../../started-gateway.ts";
import { reasoningGateway, sendTo, type UpstreamModel } from "../reasoning-gateway.ts";

const claude = (model: string): UpstreamModel => ({ kind: "anthropic", model });
const names = [
  "claude-opus-5-5",
  "claude-sonnet-5-5",
  "claude-opus-5",
  "claude-opus-4-6",
  "claude-haiku-4-5",
  "claude-fable-5-1",
];

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await reasoningGateway(names.map(claude));
});
afterAll(() => gateway.stop());

const tools = [{ type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }];
const request = { messages: [{ role: "user", content: "hi" }], max_completion_tokens: 4_000 };
const send = (model: string, more: object) =>
  sendTo(gateway, claude(model), "/v1/chat/completions", { ...request, ...more });

test.each([
  ["claude-opus-5-5", { type: "adaptive", display: "omitted" }, "low", /cannot be disabled/],
  ["claude-fable-5-1", { type: "adaptive", display: "omitted" }, "low", /cannot be disabled/],
  ["claude-sonnet-5-5", { type: "between_tools" }, undefined, /^$/],
  ["claude-opus-5", { type: "disabled" }, undefined, /^$/],
  ["claude-haiku-4-5", { type: "disabled" }, undefined, /^$/],
])("disables the thinking of %s only in a way that it accepts", async (model, thinking, effort, warned) => {
  const { body, warnings } = await send(model, { reasoning_effort: "none" });
  expect([body["thinking"], (body["output_config"] as { effort?: string } | undefined)?.effort]).toEqual([
    thinking,
    effort,
  ]);
  expect(warnings).toMatch(warned);
});

test("replaces an effort that the model does not accept with the next one, with a warning", async () => {
  const { body, warnings } = await send("claude-opus-4-6", { reasoning_effort: "xhigh" });
  expect(body["output_config"]).toEqual({ effort: "max" });
  expect(warnings).toContain('"xhigh" is not accepted by this model: "max" was used');
  expect((await send("claude-opus-5", { reasoning_effort: "xhigh" })).body["output_config"]).toEqual({
    effort: "xhigh",
  });
});

test("drops forced tools and sampling for models that refuse them, with warnings", async () => {
  for (const model of ["claude-opus-5-5", "claude-sonnet-5-5"]) {
    const { body, warnings } = await send(model, { tools, tool_choice: "required", temperature: 0.5 });
    expect([body["tool_choice"], body["temperature"]]).toEqual([{ type: "auto" }, undefined]);
    expect(warnings).toContain("does not accept a forced tool choice");
    expect(warnings).toContain("temperature");
  }
  const { body } = await send("claude-haiku-4-5", { tools, tool_choice: "required", temperature: 0.5 });
  expect([body["tool_choice"], body["temperature"]]).toEqual([{ type: "any" }, 0.5]);
});
