import { expect, test } from "bun:test";
import type { Turn } from "#core/index.ts";
import { anthropicMessagesCodec, openaiChatCodec } from "#protocols/index.ts";
import { silentTurn } from "../../../test/silent-turn.ts";
import { type ReasoningRule, reasoningBy } from "./reasoning-rule.ts";
import { dashscopeModels, deepseekModels, moonshotModels, xaiModels } from "./vendor-models.ts";

const tool = { name: "look", description: null, parameters: null, strict: null, cache: null };
const any = { kind: "any" } as const;
const named = { kind: "tool", name: "look" } as const;
const thinking = { effort: "high", budgetTokens: null, visible: true } as const;
const namedInChat = { type: "function", function: { name: "look" } };

function write(
  rules: readonly ReasoningRule[],
  upstreamModel: string,
  changes: Partial<Turn>,
  codec: Pick<typeof openaiChatCodec, "writeTurn"> = openaiChatCodec,
) {
  const rule = reasoningBy(rules, upstreamModel);
  const traits = { ...rule?.also, ...(rule === null ? {} : { reasoning: rule.takes }) };
  const target = { upstreamModel, account: "acc", traits, newId: (prefix: string) => `${prefix}1` };
  const warnings: string[] = [];
  const bytes = codec.writeTurn({ ...silentTurn, tools: [tool], ...changes }, target, (text) => warnings.push(text));
  return { sent: JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>, warnings };
}

// Vendors return 400 "Thinking mode does not support this tool_choice"; agents force a tool for structured output.
for (const toolChoice of [any, named]) {
  for (const reasoning of [null, thinking]) {
    const variant = `${toolChoice.kind}, ${reasoning === null ? "thinking not requested" : "thinking requested"}`;
    test(`disables thinking if the vendor does not support it with a forced tool: ${variant}`, () => {
      const deepseek = write(deepseekModels, "deepseek-v4-flash", { toolChoice, reasoning });
      const kimi = write(moonshotModels, "kimi-k2.6", { toolChoice, reasoning });
      const qwen = write(dashscopeModels, "qwen3.5-plus", { toolChoice, reasoning });
      const choice = toolChoice.kind === "any" ? "required" : namedInChat;
      for (const { sent, warnings } of [deepseek, kimi, qwen]) {
        expect(sent["tool_choice"]).toEqual(choice);
        expect(sent["reasoning_effort"]).toBeUndefined();
        expect(warnings).toContain("thinking was disabled: a forced tool choice excludes it");
      }
      expect(deepseek.sent["thinking"]).toEqual({ type: "disabled" });
      expect(kimi.sent["thinking"]).toEqual({ type: "disabled" });
      expect(qwen.sent["enable_thinking"]).toBe(false);
      expect(qwen.sent["thinking_budget"]).toBeUndefined();
    });
  }
}

test("leaves thinking unchanged if no tool is forced or thinking is already disabled", () => {
  for (const toolChoice of [null, { kind: "auto" }, { kind: "none" }] as const) {
    const { sent, warnings } = write(deepseekModels, "deepseek-v4-flash", { toolChoice, reasoning: thinking });
    expect(sent["thinking"]).toEqual({ type: "enabled" });
    expect(sent["tool_choice"]).toBe(toolChoice === null ? undefined : toolChoice.kind);
    expect(warnings).toEqual([]);
  }
  const off = { effort: "none", budgetTokens: null, visible: false } as const;
  const { sent, warnings } = write(deepseekModels, "deepseek-v4-flash", { toolChoice: any, reasoning: off });
  expect([sent["thinking"], sent["tool_choice"]]).toEqual([{ type: "disabled" }, "required"]);
  expect(warnings).toEqual([]);
});

test("changes a forced tool choice to auto for a model that always thinks", () => {
  for (const [rules, model] of [
    [deepseekModels, "deepseek-reasoner"],
    [moonshotModels, "kimi-k2-thinking"],
    [dashscopeModels, "qwq-plus"],
  ] as const) {
    const { sent, warnings } = write(rules, model, { toolChoice: named });
    expect(sent["tool_choice"]).toBe("auto");
    expect(sent["thinking"]).toBeUndefined();
    expect(warnings).toEqual(["this model does not accept a forced tool choice: it was changed to auto"]);
  }
});

test("asks Kimi K3 for any tool instead of a named one", () => {
  expect(write(moonshotModels, "kimi-k3", { toolChoice: any })).toMatchObject({
    sent: { tool_choice: "required" },
    warnings: [],
  });
  expect(write(moonshotModels, "kimi-k3", { toolChoice: named })).toMatchObject({
    sent: { tool_choice: "required" },
    warnings: [],
  });
  const several = write(moonshotModels, "kimi-k3", { toolChoice: named, tools: [tool, { ...tool, name: "other" }] });
  expect(several.sent["tool_choice"]).toBe("required");
  expect(several.warnings).toEqual(["this model does not accept the choice of one tool: it may call any"]);
});

// Kimi returns 400 "invalid temperature: only 1 is allowed for this model" if an agent sets its own temperature.
test("drops sampling for Kimi models that reason, but keeps stop sequences", () => {
  for (const model of ["kimi-k2.6", "kimi-k2.7-code", "kimi-k3"]) {
    const { sent, warnings } = write(moonshotModels, model, { temperature: 0.2, topP: 0.9, stop: ["END"] });
    expect([sent["temperature"], sent["top_p"], sent["stop"]]).toEqual([undefined, undefined, ["END"]]);
    expect(warnings).toEqual(["temperature, top_p and penalties are refused by a model that reasons and were dropped"]);
  }
  expect(write(moonshotModels, "moonshot-v1-32k", { temperature: 0.2 }).sent["temperature"]).toBe(0.2);
});

const asked: Partial<Turn> = { messages: [{ role: "user", parts: [{ kind: "text", text: "go", cache: null }] }] };
const toMessages = (rules: readonly ReasoningRule[], model: string, changes: Partial<Turn>) =>
  write(rules, model, { ...asked, ...changes }, anthropicMessagesCodec);

// If the account's `endpoints` include Messages, the vendors return the same 400, DeepSeek even for its default.
test("disables thinking in a Messages request if a tool is forced", () => {
  for (const reasoning of [null, thinking]) {
    for (const toolChoice of [any, named]) {
      const deepseek = toMessages(deepseekModels, "deepseek-v4-flash", { toolChoice, reasoning });
      const kimi = toMessages(moonshotModels, "kimi-k2.6", { toolChoice, reasoning });
      for (const { sent, warnings } of [deepseek, kimi]) {
        expect(sent["thinking"]).toEqual({ type: "disabled" });
        expect(sent["tool_choice"]).toMatchObject({ type: toolChoice.kind });
        expect(warnings).toEqual(["thinking was disabled: a forced tool choice excludes it"]);
      }
    }
  }
  const { sent, warnings } = toMessages(deepseekModels, "deepseek-v4-flash", { toolChoice: { kind: "auto" } });
  expect([sent["thinking"], warnings]).toEqual([undefined, []]);
});

test("changes a forced tool choice to auto in a Messages request for a model that always thinks", () => {
  const { sent, warnings } = toMessages(moonshotModels, "kimi-k2-thinking", { toolChoice: named });
  expect(sent).toMatchObject({ tool_choice: { type: "auto" } });
  expect(warnings).toEqual(["this model does not accept a forced tool choice: it was changed to auto"]);
  for (const toolChoice of [any, named]) {
    const k3 = toMessages(moonshotModels, "kimi-k3", { toolChoice, reasoning: thinking });
    expect(k3.sent).toMatchObject({ tool_choice: { type: "any" }, thinking: { type: "enabled" } });
    expect(k3.warnings).toEqual([]);
  }
});

// "presencePenalty, frequencyPenalty and stop parameters are not supported by reasoning models": a 400.
test("drops penalties and stop sequences for Grok models that reason, but keeps sampling", () => {
  const sampling = { temperature: 0.2, topP: 0.9, presencePenalty: 0.5, frequencyPenalty: 0, stop: ["END"] };
  for (const model of ["grok-4", "grok-4.3", "grok-4-1-fast-reasoning", "grok-code-fast-1", "grok-3-mini"]) {
    const { sent, warnings } = write(xaiModels, model, sampling);
    expect(sent).toMatchObject({ temperature: 0.2, top_p: 0.9 });
    expect(sent).not.toContainAnyKeys(["presence_penalty", "frequency_penalty", "stop"]);
    expect(warnings).toEqual([
      "penalties are refused by a model that reasons and were dropped",
      "stop sequences are refused by a model that reasons and were dropped",
    ]);
  }
  const plain = write(xaiModels, "grok-4-1-fast-non-reasoning", sampling);
  expect(plain).toMatchObject({ sent: { presence_penalty: 0.5, stop: ["END"] }, warnings: [] });
});
