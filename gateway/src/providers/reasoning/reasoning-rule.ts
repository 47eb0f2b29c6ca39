import type { Provider } from "#core/index.ts";
import {
  type DialectTraits,
  type Effort,
  efforts,
  isObject,
  type JsonObject,
  type ReasoningTraits,
} from "#protocols/index.ts";

/** How models with matching names accept reasoning. */
export interface ReasoningRule {
  /** Matched against the lowercase upstream name. */
  readonly models: RegExp;
  readonly takes: ReasoningTraits;
  /** Other traits of the same models. */
  readonly also?: DialectTraits;
}

/** The first matching rule; null: unknown model. */
export function reasoningBy(rules: readonly ReasoningRule[], upstreamModel: string): ReasoningRule | null {
  const name = upstreamModel.toLowerCase();
  return rules.find(({ models }) => models.test(name)) ?? null;
}

export const never: ReasoningTraits = { never: true };
/** Always reasons, without a setting. */
export const always: ReasoningTraits = { always: true, efforts: [] };

const rulesMax = 100;
const switches: readonly unknown[] = ["effort", "thinking", "enable_thinking"];
const flags = ["always", "never", "wants_thoughts"] as const;
const settingNames: ReadonlySet<string> = new Set(["efforts", "switch", ...flags]);

/** A problem with `settings.reasoning`; null if there is none. */
export function reasoningProblem(provider: Provider): string | null {
  const setting = provider.settings["reasoning"];
  if (setting === undefined || setting === null || setting === "") return null;
  const at = "settings.reasoning";
  if (!isObject(setting) || Object.keys(setting).length > rulesMax) {
    return `${at} must be an object with at most ${rulesMax} models: names, or prefixes with a *`;
  }
  for (const [name, rule] of Object.entries(setting)) {
    const problem = ruleProblem(rule);
    if (problem !== null) return `${at}: of "${name.slice(0, 64)}", ${problem}`;
  }
  return null;
}

function ruleProblem(rule: unknown): string | null {
  if (!isObject(rule)) return "a rule must be an object";
  const unknownName = Object.keys(rule).find((name) => !settingNames.has(name));
  if (unknownName !== undefined)
    return `there is no "${unknownName.slice(0, 64)}"; there are ${[...settingNames].join(", ")}`;
  const { efforts: taken, switch: by } = rule;
  if (taken !== undefined && !(Array.isArray(taken) && taken.every((one) => efforts.includes(one as Effort)))) {
    return `efforts must be a list of: ${efforts.join(", ")}`;
  }
  if (by !== undefined && !switches.includes(by)) return `switch must be one of: ${switches.join(", ")}`;
  const wrong = flags.find((name) => rule[name] !== undefined && typeof rule[name] !== "boolean");
  return wrong === undefined ? null : `${wrong} must be true or false`;
}

/** The operator's setting for a model: by its name, else by the longest prefix. null: none. */
export function configuredReasoning(provider: Provider, upstreamModel: string): ReasoningTraits | null {
  const setting = provider.settings["reasoning"];
  if (!isObject(setting)) return null;
  const matching = Object.entries(setting)
    .filter(([name]) => (name.endsWith("*") ? upstreamModel.startsWith(name.slice(0, -1)) : upstreamModel === name))
    .sort(([a], [b]) => Number(a.endsWith("*")) - Number(b.endsWith("*")) || b.length - a.length);
  const rule = matching[0]?.[1];
  return isObject(rule) ? readRule(rule) : null;
}

function readRule({ wants_thoughts: wantsThoughts, efforts: taken, ...rest }: JsonObject): ReasoningTraits {
  return {
    ...rest,
    ...(wantsThoughts === undefined ? {} : { wantsThoughts: wantsThoughts === true }),
    // In canonical order.
    ...(Array.isArray(taken) ? { efforts: efforts.filter((effort) => taken.includes(effort)) } : {}),
  };
}
