import { choosingMembers, GovernedNames } from "./governed-names.ts";
import type { Span } from "./json-scan.ts";
import { scanRequest } from "./request-members.ts";

/** Objects at the top with members that choose, and the names of those. */
const nested: ReadonlyMap<string, GovernedNames> = nestedNames();
const topNames: ReadonlySet<string> = new Set([
  ...[...choosingMembers].filter((name) => !name.includes(".")),
  ...nested.keys(),
]);

/** The names that are looked for in a request's body: those that its dialect reads, and those that choose. */
export function bodyNames(names: readonly string[]): GovernedNames {
  return new GovernedNames([...names, ...topNames]);
}

/**
 * Which of the members found choose a model or multiply the cost, as `choosingMembers` names them; undefined in almost every
 * request. Throws Failure invalid_request for another spelling of one inside an object.
 */
export function choosingIn(body: Uint8Array, members: ReadonlyMap<string, Span>): readonly string[] | undefined {
  let found: string[] | undefined;
  for (const [name, span] of members) {
    if (!topNames.has(name)) continue;
    if (choosingMembers.has(name)) {
      found ??= [];
      found.push(name);
    }
    const names = nested.get(name);
    if (names === undefined || body[span.start] !== OPEN_OBJECT) continue;
    for (const member of scanRequest(body.subarray(span.start, span.end), names).keys()) {
      found ??= [];
      found.push(`${name}.${member}`);
    }
  }
  return found;
}

function nestedNames(): ReadonlyMap<string, GovernedNames> {
  const byHolder = new Map<string, string[]>();
  for (const path of choosingMembers) {
    const [holder = "", member] = path.split(".");
    if (member !== undefined) byHolder.set(holder, [...(byHolder.get(holder) ?? []), member]);
  }
  return new Map([...byHolder].map(([holder, names]) => [holder, new GovernedNames(names)]));
}

const OPEN_OBJECT = 0x7b;
