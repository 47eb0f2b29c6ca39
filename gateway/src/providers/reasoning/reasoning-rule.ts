import type { Provider } from "#core/index.ts";
import {
  type DialectTraits,
  type Effort,
  efforts,
  isObject,
  type JsonObject,
  type ReasoningTraits,
} from "#protocols/index.ts";

/** What models of some names take of a request to reason. */
export interface ReasoningRule {
  /** Of the upstream's name of the model, in small letters. */
  readonly models: RegExp;
  readonly takes: ReasoningTraits;
  /** What is different about the same models beside that. */
  readonly also?: DialectTraits;
}

/** The first rule that fits; null: nothing is known of this model. */
export function reasoningBy(rules: readonly ReasoningRule[], upstreamModel: string): ReasoningRule | null {
  const name = upstreamModel.toLowerCase();
  return rules.find(({ models }) => models.test(name)) ?? null;
}

export const never: ReasoningTraits = { never: true };
/** It reasons by its nature, and is told nothing. */
export const always: ReasoningTraits = { always: true, efforts: [] };

const rulesMax = 100;
const switches: readonly unknown[] = ["effort", "thinking", "enable_thinking"];
const flags = ["always", "never", "wants_thoughts"] as const;
const known: ReadonlySet<string> = new Set(["efforts", "switch", ...flags]);

/** What is wrong with `settings.reasoning`; null when nothing is. */
export function reasoningProblem(provider: Provider): string | null {
  const said = provider.settings["reasoning"];
  if (said === undefined || said === null || said === "") return null;
  const at = "settings.reasoning";
  if (!isObject(said) || Object.keys(said).length > rulesMax) {
    return `${at} must be an object of at most ${rulesMax} models: names, or beginnings with a *`;
  }
  for (const [name, rule] of Object.entries(said)) {
    const problem = ruleProblem(rule);
    if (problem !== null) return `${at}: of "${name.slice(0, 64)}", ${problem}`;
  }
  return null;
}

function ruleProblem(rule: unknown): string | null {
  if (!isObject(rule)) return "what is said must be an object";
  const strange = Object.keys(rule).find((name) => !known.has(name));
  if (strange !== undefined) return `there is no "${strange.slice(0, 64)}"; there are ${[...known].join(", ")}`;
  const { efforts: taken, switch: by } = rule;
  if (taken !== undefined && !(Array.isArray(taken) && taken.every((one) => efforts.includes(one as Effort)))) {
    return `efforts must be a list out of: ${efforts.join(", ")}`;
  }
  if (by !== undefined && !switches.includes(by)) return `switch must be one of: ${switches.join(", ")}`;
  const wrong = flags.find((name) => rule[name] !== undefined && typeof rule[name] !== "boolean");
  return wrong === undefined ? null : `${wrong} must be true or false`;
}

/** What an operator says of a model: by its name, else by the longest beginning of it. null: nothing. */
export function saidReasoning(provider: Provider, upstreamModel: string): ReasoningTraits | null {
  const said = provider.settings["reasoning"];
  if (!isObject(said)) return null;
  const fitting = Object.entries(said)
    .filter(([name]) => (name.endsWith("*") ? upstreamModel.startsWith(name.slice(0, -1)) : upstreamModel === name))
    .sort(([a], [b]) => Number(a.endsWith("*")) - Number(b.endsWith("*")) || b.length - a.length);
  const rule = fitting[0]?.[1];
  return isObject(rule) ? readRule(rule) : null;
}

function readRule({ wants_thoughts: wantsThoughts, efforts: taken, ...rest }: JsonObject): ReasoningTraits {
  return {
    ...rest,
    ...(wantsThoughts === undefined ? {} : { wantsThoughts: wantsThoughts === true }),
    // In their order, whatever order they were written in.
    ...(Array.isArray(taken) ? { efforts: efforts.filter((effort) => taken.includes(effort)) } : {}),
  };
}
