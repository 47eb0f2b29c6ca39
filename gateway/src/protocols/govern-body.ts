import { Failure } from "#core/index.ts";
import { editBody } from "./edit-body.ts";
import { JsonInvalid, type Span, scanObject } from "./json-scan.ts";
import { readSmall } from "./request-members.ts";

/** What becomes of one member that chooses a model or multiplies a cost. */
interface MemberRule {
  /** Values that choose nothing and cost no more; they go on. null always does. */
  readonly takes?: readonly (string | number)[];
  /** Said to the caller in the place of leaving it out, where leaving it out would break a promise made to somebody. */
  readonly refused?: string;
}

export type MemberRules = Readonly<Record<string, MemberRule>>;

export interface Governing {
  /** The members to look for. */
  readonly names: readonly string[];
  /** A member without one is left out, whatever it says. */
  readonly rules: MemberRules;
}

/**
 * A body without those members that would choose a model past its grant or cost more than its price, and which those were.
 * Throws Failure invalid_request for one that is refused. Such bodies are rare, so it is scanned once more.
 */
export function governBody(body: Uint8Array, { names, rules }: Governing): { made: Uint8Array; left: string[] } {
  const left: string[] = [];
  for (const [name, span] of membersOf(body, new Set(names))) {
    const { takes = [], refused } = rules[name] ?? {};
    const value = readSmall(body, span);
    if (value === null || isOneOf(value, takes)) continue;
    if (refused !== undefined) throw new Failure("invalid_request", refused, { param: name, retry: "other" });
    left.push(name);
  }
  return { made: left.length === 0 ? body : editBody(body, { remove: left }), left };
}

function membersOf(body: Uint8Array, names: ReadonlySet<string>): ReadonlyMap<string, Span> {
  try {
    return scanObject(body, names);
  } catch (thrown) {
    if (thrown instanceof JsonInvalid) return new Map();
    throw thrown;
  }
}

function isOneOf(value: unknown, takes: readonly (string | number)[]): boolean {
  return takes.includes(typeof value === "string" ? value.toLowerCase() : (value as number));
}
