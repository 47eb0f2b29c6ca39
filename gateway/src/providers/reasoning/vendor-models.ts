import { always, never, type ReasoningRule } from "./reasoning-rule.ts";

/**
 * Source: api-docs.deepseek.com/guides/thinking_mode (other efforts map to these three). Thinking is on by default and
 * excludes some tool_choice values.
 */
export const deepseekModels: readonly ReasoningRule[] = [
  { models: /reasoner|-r1/, takes: { ...always, forcesNoToolsThinking: true } },
  {
    models: /./,
    takes: { switch: "thinking", efforts: ["low", "high", "max"], wantsThoughts: true, forcesNoToolsThinking: true },
  },
];

/** "invalid temperature: only 1 is allowed for this model". */
const fixed = { refusesSampling: "fixed" } as const;

/**
 * Source: platform.kimi.ai/docs, "Use thinking effort" and "Use Kimi K2 thinking models". K3 accepts any forced tool except
 * a named one, earlier models none.
 */
export const moonshotModels: readonly ReasoningRule[] = [
  {
    models: /kimi-k(3|4)/,
    takes: { always: true, efforts: ["low", "high", "max"], wantsThoughts: true, forcesNoToolsThinking: "named" },
    also: fixed,
  },
  {
    models: /kimi-k2\.7|kimi-k2-thinking/,
    takes: { ...always, wantsThoughts: true, forcesNoToolsThinking: true },
    also: fixed,
  },
  {
    models: /kimi-k2\.[56]/,
    takes: { switch: "thinking", efforts: [], wantsThoughts: true, forcesNoToolsThinking: true },
    also: fixed,
  },
  { models: /kimi-k2|kimi-latest|moonshot-v1/, takes: never },
  { models: /./, takes: { switch: "thinking", efforts: [], wantsThoughts: true } },
];

/** Sources: docs.bigmodel.cn and docs.z.ai, "Thinking mode" (an effort from GLM-5.2 on; GLM-5.3 thinks in any case). */
export const zhipuModels: readonly ReasoningRule[] = [
  { models: /glm-5\.[3-9]/, takes: { always: true, efforts: ["low", "high", "max"] } },
  { models: /glm-5\.2/, takes: { switch: "thinking", efforts: ["low", "medium", "high", "xhigh", "max"] } },
  { models: /glm-(4\.[5-9]|5)/, takes: { switch: "thinking", efforts: [] } },
  { models: /glm-4|glm-3|charglm|codegeex/, takes: never },
  { models: /./, takes: { switch: "thinking", efforts: [] } },
];

/** Source: volcengine-go-sdk, arkruntime. Endpoint names do not show the model. */
export const arkModels: readonly ReasoningRule[] = [
  { models: /doubao-1[.-]5-(?!.*thinking)|doubao-(pro|lite)/, takes: never },
  { models: /deepseek|kimi|glm/, takes: { switch: "thinking", efforts: [] } },
  { models: /./, takes: { switch: "thinking", efforts: ["minimal", "low", "medium", "high"] } },
];

/** Source: docs.mistral.ai, "Reasoning": Magistral always reasons, Small 4 and Medium 3.5 by `reasoning_effort`. */
export const mistralModels: readonly ReasoningRule[] = [
  { models: /magistral/, takes: always },
  {
    models: /mistral-(small|medium)-(latest|2[6-9]\d\d|[4-9])|mistral-medium-3[-.]5/,
    takes: { efforts: ["none", "high"] },
  },
  { models: /./, takes: never },
];

/** Penalties and stop sequences are "not supported by reasoning models". */
const penalties = { refusesSampling: "penalties" } as const;

/** Source: docs.x.ai, "Reasoning": before 4.3 the name shows whether a model reasons, except Grok 3 Mini. */
export const xaiModels: readonly ReasoningRule[] = [
  { models: /non-reasoning|grok-(2|3(?!-mini))/, takes: never },
  { models: /grok-3-mini/, takes: { always: true, efforts: ["low", "high"] }, also: penalties },
  { models: /grok-4\.3/, takes: { efforts: ["none", "low", "medium", "high"] }, also: penalties },
  { models: /grok-4(\.20|\.1|-|$)|grok-code/, takes: always, also: penalties },
];

/** Source: console.groq.com/docs/reasoning. */
export const groqModels: readonly ReasoningRule[] = [
  { models: /gpt-oss/, takes: { always: true, efforts: ["low", "medium", "high"] } },
  { models: /qwen3|qwen-3/, takes: { efforts: ["none"] } },
  { models: /./, takes: never },
];

/** Source: help.aliyun.com, Model Studio, "Deep thinking". Thinking mode refuses a forced tool_choice. */
export const dashscopeModels: readonly ReasoningRule[] = [
  { models: /qwq|qvq|-thinking|-r1/, takes: { ...always, forcesNoToolsThinking: true } },
  { models: /-instruct|qwen2|qwen-(long|vl|audio|omni|mt|math|coder)/, takes: never },
  { models: /./, takes: { switch: "enable_thinking", efforts: [], forcesNoToolsThinking: true } },
];

/** Source: docs.cohere.com, "Compatibility API". */
export const cohereModels: readonly ReasoningRule[] = [
  { models: /reasoning/, takes: { efforts: ["none", "high"] } },
  { models: /./, takes: never },
];

/** Source: docs.ollama.com, "OpenAI compatibility". */
export const ollamaModels: readonly ReasoningRule[] = [
  { models: /gpt-oss/, takes: { always: true, efforts: ["low", "medium", "high"] } },
  { models: /./, takes: { efforts: ["none", "low", "medium", "high"] } },
];
