import { type ModelPatterns, type Principal, piecesMatch } from "#core/index.ts";

/** Whether a caller may use a model: its workspace, its group and its key must all name it. */
export function mayCall(principal: Principal, model: string): boolean {
  return whyNot(principal, model) === null;
}

/** Which of the three says no, widest first; null when none does. */
export function whyNot(principal: Principal, model: string): "workspace" | "group" | "key" | null {
  if (!matches(principal.workspace.models, model)) return "workspace";
  if (!matches(principal.group.models, model)) return "group";
  if (principal.key.models !== null && !matches(principal.key.models, model)) return "key";
  return null;
}

export function matches(patterns: ModelPatterns, model: string): boolean {
  const list = readyList(patterns);
  return list.every || list.names.has(model) || list.withStars.some((pieces) => piecesMatch(pieces, model));
}

/** The first of the patterns that names the model; null when none does. */
export function matchingPattern(patterns: ModelPatterns, model: string): string | null {
  if (!matches(patterns, model)) return null;
  return patterns.find((pattern) => pattern === model || piecesMatch(pattern.split(stars), model)) ?? null;
}

/** A list of patterns as it is asked: what holds no star is a name. */
interface ReadyList {
  readonly every: boolean;
  readonly names: ReadonlySet<string>;
  readonly withStars: readonly (readonly string[])[];
}

/** By their list, which is frozen in the config snapshot and lives as long as its snapshot. */
const ready = new WeakMap<ModelPatterns, ReadyList>();
const stars = /\*+/;

function readyList(patterns: ModelPatterns): ReadyList {
  let list = ready.get(patterns);
  if (list === undefined) {
    list = {
      every: patterns.includes("*"),
      names: new Set(patterns.filter((pattern) => !pattern.includes("*"))),
      withStars: patterns.filter((pattern) => pattern.includes("*")).map((pattern) => pattern.split(stars)),
    };
    ready.set(patterns, list);
  }
  return list;
}

/**
 * Whether a caller may use a provider's whole API: its workspace, its group and its key must each name the provider. No pattern
 * of models says anything of it.
 */
export function mayPassThrough(principal: Principal, provider: string): boolean {
  return whyNotPassThrough(principal, provider) === null;
}

/** Which of the three says no, widest first; null when none does. */
export function whyNotPassThrough(
  { workspace, group, key }: Principal,
  provider: string,
): "workspace" | "group" | "key" | null {
  if (!workspace.passThrough.includes(provider)) return "workspace";
  if (!group.passThrough.includes(provider)) return "group";
  return key.passThrough.includes(provider) ? null : "key";
}
