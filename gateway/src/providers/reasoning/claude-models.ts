import type { ReasoningRule } from "./reasoning-rule.ts";

/**
 * Sources: platform.claude.com, "Adaptive thinking", "Effort" and the migration guides to Opus 5.5 and Sonnet 5.5;
 * docs.aws.amazon.com/bedrock, "Adaptive thinking". Read on 2026-11-22. From 4.7 on models accept every effort; from 4.6 on
 * a conversation must end with the user ("Prefill removal"). Thoughts are bound since August 2026 ("Preserved thinking").
 */
export const claudeModels: readonly ReasoningRule[] = [
  {
    models: /claude-(fable|mythos)|claude-opus-5-5/,
    takes: { always: true, refusesForcedTools: true, bindsThoughts: true },
    also: { refusesSampling: true, refusesPrefill: true },
  },
  {
    models: /claude-sonnet-5-5/,
    takes: { least: "between_tools", refusesForcedTools: true, bindsThoughts: true },
    also: { refusesSampling: true, refusesPrefill: true },
  },
  {
    models: /claude-haiku-5-5/,
    takes: { bindsThoughts: true },
    also: { refusesSampling: true, refusesPrefill: true },
  },
  {
    models: /claude-(opus|sonnet)-4-6/,
    takes: { efforts: ["none", "low", "medium", "high", "max"] },
    also: { refusesPrefill: true },
  },
  {
    models: /claude-opus-4-[7-9]|claude-[a-z]+-[5-9]/,
    takes: {},
    also: { refusesSampling: true, refusesPrefill: true },
  },
];
