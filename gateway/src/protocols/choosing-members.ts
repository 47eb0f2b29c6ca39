import { choosingMembers, GovernedNames } from "./governed-names.ts";
import type { Span } from "./json-scan.ts";

/** The names that are looked for in a request's body: those that its dialect reads, and those that choose. */
export function bodyNames(names: readonly string[]): GovernedNames {
  return new GovernedNames([...names, ...choosingMembers]);
}

/** Which of the members found choose a model or multiply the cost; undefined in almost every request. */
export function choosingIn(members: ReadonlyMap<string, Span>): readonly string[] | undefined {
  let found: string[] | undefined;
  for (const name of members.keys()) {
    if (choosingMembers.has(name)) {
      found ??= [];
      found.push(name);
    }
  }
  return found;
}
