import { always, never, type ReasoningRule } from "./reasoning-rule.ts";

/** Refuses any temperature but 1, top_p and penalties. */
const also = { refusesSampling: true } as const;
/** Only while reasoning is on: "Using GPT-5.1", "Parameter compatibility". */
const whileReasoning = { refusesSampling: "while-reasoning" } as const;

/**
 * Sources: developers.openai.com/api/docs/guides/reasoning, the reference of `reasoning.effort` (before gpt-5.1 no `none`;
 * gpt-5-pro only `high`; xhigh after gpt-5.1-codex-max; max from gpt-5.6 on), and `unsupported_value` refusals. Read on
 * 2026-11-22. Unknown models get the requested effort.
 */
export const openaiModels: readonly ReasoningRule[] = [
  { models: /gpt-oss/, takes: { always: true, efforts: ["low", "medium", "high"] } },
  { models: /gpt-5(\.\d+)?-chat/, takes: never },
  { models: /gpt-(3|4)|chatgpt|davinci|babbage/, takes: never },
  { models: /\bo1-(mini|preview)/, takes: always, also },
  { models: /\bo[134](-|$)/, takes: { always: true, efforts: ["low", "medium", "high"] }, also },
  { models: /gpt-5-pro/, takes: { always: true, efforts: ["high"] }, also },
  { models: /gpt-5\.\d+-pro/, takes: { always: true, efforts: ["medium", "high", "xhigh"] }, also },
  {
    models: /gpt-5-codex|gpt-5\.1-codex(?!-max)|codex-mini/,
    takes: { always: true, efforts: ["low", "medium", "high"] },
    also,
  },
  { models: /gpt-5\.[1-3]-codex/, takes: { always: true, efforts: ["low", "medium", "high", "xhigh"] }, also },
  { models: /gpt-5\.1/, takes: { efforts: ["none", "low", "medium", "high"] }, also: whileReasoning },
  { models: /gpt-5\.[2-4]/, takes: { efforts: ["none", "low", "medium", "high", "xhigh"] }, also: whileReasoning },
  { models: /gpt-5\.5/, takes: { efforts: ["none", "low", "medium", "high", "xhigh"] }, also },
  { models: /gpt-(5\.[6-9]|6)/, takes: { efforts: ["none", "low", "medium", "high", "xhigh", "max"] }, also },
  { models: /gpt-5(?!\.)/, takes: { always: true, efforts: ["minimal", "low", "medium", "high"] }, also },
];

/** Open-weight models. The server decides how reasoning is switched. */
export const openWeights: readonly ReasoningRule[] = [
  ...openaiModels.slice(0, 1),
  { models: /deepseek-v[4-9]|kimi-k(2\.[5-9]|2-thinking|[3-9])/, takes: { wantsThoughts: true } },
];
