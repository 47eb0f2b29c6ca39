import type { AnswerFormat, Turn } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { unsupported } from "../json/value.ts";
import { isEmptyValue, notSupported } from "./warnings.ts";

/** Settings that some dialects have no field for, by the names that callers know. */
const settingNames = {
  topK: "top_k",
  seed: "seed",
  stop: "stop",
  presencePenalty: "presence_penalty",
  frequencyPenalty: "frequency_penalty",
  verbosity: "verbosity",
  metadata: "metadata",
  pictures: "image output",
  search: "web_search",
  google: "google.safety_settings",
} as const satisfies { readonly [Name in keyof Turn]?: string };

type Setting = keyof typeof settingNames;

/** Warns of settings without a field. Throws Failure unsupported_by_model for content cached at Google. */
export function warnOfUnsupported(turn: Turn, settings: readonly Setting[], warn: Warn): void {
  if (settings.includes("google") && (turn.google?.cachedContent ?? null) !== null) {
    const why = "Content cached at Google cannot be used with this upstream.";
    throw unsupported("extra_body.google.cached_content", why);
  }
  for (const name of settings) {
    const value = turn[name];
    if (typeof value === "number" || !isEmptyValue(value)) warn(notSupported(settingNames[name]));
  }
}

/** The upstream's name of a service tier; null for its default. `names`: by the tiers of the neutral form. */
export function writeTier(
  tier: string | null,
  names: Readonly<Record<string, string | null>>,
  warn: Warn,
): string | null {
  if (tier === null) return null;
  const name = Object.hasOwn(names, tier) ? names[tier] : undefined;
  if (name === undefined) warn(notSupported("this service_tier"));
  return name ?? null;
}

/** Asks for JSON in the instructions, where the request has no field for it. */
export function jsonInstruction(format: Extract<AnswerFormat, { kind: "json" | "schema" }>): string {
  const instruction = "Answer with one JSON object and nothing else.";
  if (format.kind === "json") return instruction;
  return `${instruction} It must match this JSON Schema:\n${JSON.stringify(format.schema)}`;
}
