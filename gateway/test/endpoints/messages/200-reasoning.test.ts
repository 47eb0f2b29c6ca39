import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { StartedGateway } from "../../started-gateway.ts";
import { nameOf, reasoningGateway, sendTo, type UpstreamModel } from "../reasoning-gateway.ts";

type Members = Readonly<Record<string, unknown>>;

const disabled: Members = { thinking: { type: "disabled" } };
const effort = (value: string): Members => ({ thinking: { type: "adaptive" }, output_config: { effort: value } });
const noReasoning = {
  reasoning_effort: undefined,
  thinking: undefined,
  reasoning: undefined,
  enable_thinking: undefined,
};

/** The upstream model, the caller's fields in Messages, the fields sent upstream and the expected warning. */
const cases: readonly (readonly [UpstreamModel, Members, Members, RegExp])[] = [
  [{ kind: "openai", model: "gpt-5" }, disabled, { reasoning: { effort: "minimal" } }, /cannot be disabled/],
  [{ kind: "openai", model: "gpt-5.1" }, disabled, { reasoning: { effort: "none" } }, /^$/],
  [
    { kind: "openai", model: "gpt-5.1" },
    effort("max"),
    { reasoning: { effort: "high" } },
    /"max" is not accepted.*"high"/,
  ],
  [{ kind: "openai", model: "gpt-5.6-sol" }, effort("max"), { reasoning: { effort: "max" } }, /^$/],
  [{ kind: "openai", model: "gpt-5-pro" }, effort("low"), { reasoning: { effort: "high" } }, /"low" is not accepted/],
  [{ kind: "openai", model: "gpt-4.1" }, effort("high"), noReasoning, /does not reason/],
  [{ kind: "openai", model: "gpt-4o-mini" }, disabled, noReasoning, /^$/],
  [{ kind: "openai", model: "o3" }, disabled, { reasoning: { effort: "low" } }, /cannot be disabled/],
  [{ kind: "openai", model: "gpt-9-of-next-year" }, disabled, { reasoning: { effort: "none" } }, /^$/],
  [{ kind: "azure-openai", model: "gpt-4o" }, effort("high"), noReasoning, /does not reason/],
  [{ kind: "ark", model: "doubao-seed-2-0" }, disabled, { ...noReasoning, thinking: { type: "disabled" } }, /^$/],
  [
    { kind: "ark", model: "ep-2026" },
    effort("max"),
    { ...noReasoning, thinking: { type: "enabled" }, reasoning_effort: "high" },
    /"max" is not accepted/,
  ],
  [{ kind: "mistral", model: "mistral-large-latest" }, effort("high"), noReasoning, /does not reason/],
  [
    { kind: "mistral", model: "mistral-small-latest" },
    effort("low"),
    { ...noReasoning, reasoning_effort: "high" },
    /"high"/,
  ],
  [{ kind: "mistral", model: "mistral-small-latest" }, disabled, { ...noReasoning, reasoning_effort: "none" }, /^$/],
  [{ kind: "mistral", model: "magistral-medium" }, disabled, noReasoning, /cannot be disabled/],
  [{ kind: "moonshot", model: "kimi-k2.6" }, disabled, { ...noReasoning, thinking: { type: "disabled" } }, /^$/],
  [
    { kind: "moonshot", model: "kimi-k2.6" },
    effort("high"),
    { ...noReasoning, thinking: { type: "enabled" } },
    /is not accepted by this model/,
  ],
  [{ kind: "moonshot", model: "kimi-k3" }, effort("medium"), { ...noReasoning, reasoning_effort: "high" }, /"medium"/],
  [{ kind: "zhipu", model: "glm-5.1" }, disabled, { ...noReasoning, thinking: { type: "disabled" } }, /^$/],
  [{ kind: "zhipu", model: "glm-5.3" }, disabled, { ...noReasoning, reasoning_effort: "low" }, /cannot be disabled/],
  [
    { kind: "deepseek", model: "deepseek-v4-pro" },
    effort("xhigh"),
    { ...noReasoning, thinking: { type: "enabled" }, reasoning_effort: "max" },
    /"xhigh" is not accepted/,
  ],
  [{ kind: "xai", model: "grok-4.3" }, effort("max"), { reasoning: { effort: "high" } }, /"max" is not accepted/],
  [{ kind: "groq", model: "llama-3.3-70b" }, effort("high"), noReasoning, /does not reason/],
  [
    { kind: "dashscope", model: "qwen3-max" },
    { thinking: { type: "enabled", budget_tokens: 2_000 } },
    { ...noReasoning, enable_thinking: true, thinking_budget: 2_000 },
    /^$/,
  ],
  [{ kind: "openai-compatible", model: "any" }, effort("xhigh"), { ...noReasoning, reasoning_effort: "xhigh" }, /^$/],
  [
    {
      kind: "openai-compatible",
      model: "house-glm-1",
      settings: { reasoning: { "house-*": { switch: "thinking", efforts: ["max", "low"] }, "*": { never: true } } },
    },
    effort("medium"),
    { ...noReasoning, thinking: { type: "enabled" }, reasoning_effort: "low" },
    /"medium" is not accepted by this model: "low"/,
  ],
  [
    { kind: "openai", model: "gpt-4.1", settings: { reasoning: { "gpt-4.1": { never: false, efforts: ["low"] } } } },
    effort("high"),
    { reasoning: { effort: "low" } },
    /"low" was used/,
  ],
];

/** Provider types with an endpoint for Messages; here only their chat endpoint is used. */
const messagesKinds = new Set(["moonshot", "zhipu", "deepseek", "dashscope"]);
const served = cases.map(
  ([one]): UpstreamModel => (messagesKinds.has(one.kind) ? { ...one, settings: { endpoints: ["chat"] } } : one),
);

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await reasoningGateway([...new Map(served.map((one) => [nameOf(one), one])).values()]);
});
afterAll(() => gateway.stop());

describe("a request for reasoning", () => {
  test.each(
    cases.map(
      ([one, fields, expected, warned], index) =>
        [`${one.kind} ${one.model}`, fields, expected, warned, index] as const,
    ),
  )("%s: %j becomes %j", async (_, fields, expected, warned, index) => {
    const messages = [{ role: "user", content: "hi" }];
    const one = served[index] as UpstreamModel;
    const { status, body, warnings } = await sendTo(gateway, one, "/v1/messages", {
      max_tokens: 4_000,
      messages,
      ...fields,
    });
    expect(status).toBe(200);
    const received = Object.keys({ ...noReasoning, ...expected }).map((name) => [name, body[name]]);
    const { summary: _s, ...reasoning } = (body["reasoning"] ?? {}) as Members;
    const actual = { ...Object.fromEntries(received), ...(body["reasoning"] === undefined ? {} : { reasoning }) };
    expect(actual).toEqual({ ...noReasoning, ...expected });
    expect(warnings).toMatch(warned);
  });
});
