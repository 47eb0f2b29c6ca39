import type { ModelPatterns, Principal } from "#core/index.ts";

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

/** By their list, which is frozen in the catalog and lives as long as its snapshot. */
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
 * Whether a text is these pieces with anything between them. Each piece is taken where it first stands, so that no pattern,
 * whoever wrote it, can make this slow: a regular expression would try every way to share the text among many stars.
 */
function piecesMatch(pieces: readonly string[], text: string): boolean {
  const head = pieces[0] ?? "";
  if (pieces.length === 1) return head === text;
  const tail = pieces.at(-1) ?? "";
  const end = text.length - tail.length;
  if (end < head.length || !text.startsWith(head) || !text.endsWith(tail)) return false;
  let from = head.length;
  for (let index = 1; index < pieces.length - 1; index++) {
    const piece = pieces[index] ?? "";
    const found = text.indexOf(piece, from);
    if (found < 0 || found + piece.length > end) return false;
    from = found + piece.length;
  }
  return true;
}
