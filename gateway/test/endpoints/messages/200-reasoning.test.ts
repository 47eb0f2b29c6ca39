import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { StartedGateway } from "../../started-gateway.ts";
import { nameOf, reasoningGateway, type Served, toldTo } from "../reasoning-gateway.ts";

type Members = Readonly<Record<string, unknown>>;

const off: Members = { thinking: { type: "disabled" } };
const effort = (value: string): Members => ({ thinking: { type: "adaptive" }, output_config: { effort: value } });
const nothing = { reasoning_effort: undefined, thinking: undefined, reasoning: undefined, enable_thinking: undefined };

/** What a caller of Messages asks of which model, what that is told, and what the caller hears of it. */
const cases: readonly (readonly [Served, Members, Members, RegExp])[] = [
  [{ kind: "openai", model: "gpt-5" }, off, { reasoning: { effort: "minimal" } }, /cannot be disabled/],
  [{ kind: "openai", model: "gpt-5.1" }, off, { reasoning: { effort: "none" } }, /^$/],
  [
    { kind: "openai", model: "gpt-5.1" },
    effort("max"),
    { reasoning: { effort: "high" } },
    /"max" is not accepted.*"high"/,
  ],
  [{ kind: "openai", model: "gpt-5.6-sol" }, effort("max"), { reasoning: { effort: "max" } }, /^$/],
  [{ kind: "openai", model: "gpt-5-pro" }, effort("low"), { reasoning: { effort: "high" } }, /"low" is not accepted/],
  [{ kind: "openai", model: "gpt-4.1" }, effort("high"), nothing, /does not reason/],
  [{ kind: "openai", model: "gpt-4o-mini" }, off, nothing, /^$/],
  [{ kind: "openai", model: "o3" }, off, { reasoning: { effort: "low" } }, /cannot be disabled/],
  [{ kind: "openai", model: "gpt-9-of-next-year" }, off, { reasoning: { effort: "none" } }, /^$/],
  [{ kind: "azure-openai", model: "gpt-4o" }, effort("high"), nothing, /does not reason/],
  [{ kind: "ark", model: "doubao-seed-2-0" }, off, { ...nothing, thinking: { type: "disabled" } }, /^$/],
  [
    { kind: "ark", model: "ep-2026" },
    effort("max"),
    { ...nothing, thinking: { type: "enabled" }, reasoning_effort: "high" },
    /"max" is not accepted/,
  ],
  [{ kind: "mistral", model: "mistral-large-latest" }, effort("high"), nothing, /does not reason/],
  [
    { kind: "mistral", model: "mistral-small-latest" },
    effort("low"),
    { ...nothing, reasoning_effort: "high" },
    /"high"/,
  ],
  [{ kind: "mistral", model: "mistral-small-latest" }, off, { ...nothing, reasoning_effort: "none" }, /^$/],
  [{ kind: "mistral", model: "magistral-medium" }, off, nothing, /cannot be disabled/],
  [{ kind: "moonshot", model: "kimi-k2.6" }, off, { ...nothing, thinking: { type: "disabled" } }, /^$/],
  [
    { kind: "moonshot", model: "kimi-k2.6" },
    effort("high"),
    { ...nothing, thinking: { type: "enabled" } },
    /is not accepted by this model/,
  ],
  [{ kind: "moonshot", model: "kimi-k3" }, effort("medium"), { ...nothing, reasoning_effort: "high" }, /"medium"/],
  [{ kind: "zhipu", model: "glm-5.1" }, off, { ...nothing, thinking: { type: "disabled" } }, /^$/],
  [{ kind: "zhipu", model: "glm-5.3" }, off, { ...nothing, reasoning_effort: "low" }, /cannot be disabled/],
  [
    { kind: "deepseek", model: "deepseek-v4-pro" },
    effort("xhigh"),
    { ...nothing, thinking: { type: "enabled" }, reasoning_effort: "max" },
    /"xhigh" is not accepted/,
  ],
  [{ kind: "xai", model: "grok-4.3" }, effort("max"), { reasoning: { effort: "high" } }, /"max" is not accepted/],
  [{ kind: "groq", model: "llama-3.3-70b" }, effort("high"), nothing, /does not reason/],
  [
    { kind: "dashscope", model: "qwen3-max" },
    { thinking: { type: "enabled", budget_tokens: 2_000 } },
    { ...nothing, enable_thinking: true, thinking_budget: 2_000 },
    /^$/,
  ],
  [{ kind: "openai-compatible", model: "any" }, effort("xhigh"), { ...nothing, reasoning_effort: "xhigh" }, /^$/],
  [
    {
      kind: "openai-compatible",
      model: "house-glm-1",
      settings: { reasoning: { "house-*": { switch: "thinking", efforts: ["max", "low"] }, "*": { never: true } } },
    },
    effort("medium"),
    { ...nothing, thinking: { type: "enabled" }, reasoning_effort: "low" },
    /"medium" is not accepted by this model: "low"/,
  ],
  [
    { kind: "openai", model: "gpt-4.1", settings: { reasoning: { "gpt-4.1": { never: false, efforts: ["low"] } } } },
    effort("high"),
    { reasoning: { effort: "low" } },
    /"low" was used/,
  ],
];

/** Kinds that have an endpoint for Messages are asked by their other one. */
const onlyOthers = new Set(["moonshot", "zhipu", "deepseek", "dashscope"]);
const served = cases.map(
  ([one]): Served => (onlyOthers.has(one.kind) ? { ...one, settings: { endpoints: ["chat"] } } : one),
);

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await reasoningGateway([...new Map(served.map((one) => [nameOf(one), one])).values()]);
});
afterAll(() => gateway.stop());

describe("what is told of a request to reason", () => {
  test.each(
    cases.map(([one, asked, told, warned], index) => [`${one.kind} ${one.model}`, asked, told, warned, index] as const),
  )("%s: %j becomes %j", async (_, asked, expected, warned, index) => {
    const messages = [{ role: "user", content: "hi" }];
    const one = served[index] as Served;
    const { status, body, warnings } = await toldTo(gateway, one, "/v1/messages", {
      max_tokens: 4_000,
      messages,
      ...asked,
    });
    expect(status).toBe(200);
    const said = Object.keys({ ...nothing, ...expected }).map((name) => [name, body[name]]);
    const { summary: _s, ...reasoning } = (body["reasoning"] ?? {}) as Members;
    const seen = { ...Object.fromEntries(said), ...(body["reasoning"] === undefined ? {} : { reasoning }) };
    expect(seen).toEqual({ ...nothing, ...expected });
    expect(warnings).toMatch(warned);
  });
});
