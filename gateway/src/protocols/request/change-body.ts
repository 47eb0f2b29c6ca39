import { bounds, Failure } from "#core/index.ts";
import type { RequestFacts, Wire } from "../dialect.ts";
import { editBody, splice, splicedPieces } from "../json/bytes.ts";
import type { Span } from "../json/cursor.ts";
import { scanIfObject } from "../json/scan.ts";
import { readSmall } from "./members.ts";

/** What becomes of one member that the gateway governs. */
interface MemberRule {
  /** Values that choose nothing and cost no more; they go on. null always does. */
  readonly takes?: readonly (string | number | boolean)[];
  /** The object that holds the member goes with it: it means nothing without. */
  readonly whole?: true;
  /** Said to the caller in the place of leaving it out, where leaving it out would break a promise made to somebody. */
  readonly refused?: string;
}

/** By the names of `choosingMembers`. */
export type MemberRules = Readonly<Record<string, MemberRule>>;

export interface GovernedMembers {
  readonly names: readonly string[];
  /** A member without one is left out, whatever it says. */
  readonly rules: MemberRules;
}

/**
 * A body without those members that would choose a model past its grant or cost more than its price, and which those were.
 * Throws Failure invalid_request for one that is refused. Such bodies are rare, so it is scanned once more.
 */
export function governBody(body: Uint8Array, { names, rules }: GovernedMembers): { made: Uint8Array; left: string[] } {
  const left: string[] = [];
  /** Members of objects at the top that are left out, by the object. */
  const inside = new Map<string, string[]>();
  const found = scanIfObject(body, new Set(names.map(holderOf)));
  for (const name of names) {
    const holder = holderOf(name);
    const member = name.slice(holder.length + 1);
    const span = found?.get(holder);
    if (span === undefined) continue;
    const value = member === "" ? readSmall(body, span) : memberOf(body, span, member);
    const { takes = [], whole, refused } = rules[name] ?? {};
    if (value === null || isOneOf(value, takes)) continue;
    if (refused !== undefined) throw new Failure("invalid_request", refused, { param: name, retry: "other" });
    if (member === "" || whole === true) left.push(holder);
    else inside.set(holder, [...(inside.get(holder) ?? []), member]);
  }
  const edits = [...inside].flatMap(([holder, remove]) => {
    const span = found?.get(holder);
    if (span === undefined) return [];
    const text = Buffer.from(editBody(body.subarray(span.start, span.end), { remove })).toString();
    return [{ ...span, text }];
  });
  const emptied = splice(
    body,
    edits.sort((one, other) => one.start - other.start),
  );
  const made = left.length === 0 ? emptied : editBody(emptied, { remove: left });
  left.push(...[...inside].flatMap(([holder, members]) => members.map((member) => `${holder}.${member}`)));
  return { made: left.length === 0 ? body : made, left };
}

/** What the member of an object at the top says; null where there is no such object or member. */
function memberOf(body: Uint8Array, span: Span, member: string): unknown {
  const inner = body.subarray(span.start, span.end);
  return readSmall(inner, scanIfObject(inner, new Set([member]))?.get(member));
}

function holderOf(name: string): string {
  return name.split(".", 1)[0] ?? name;
}

function isOneOf(value: unknown, takes: readonly (string | number | boolean)[]): boolean {
  return takes.includes(typeof value === "string" ? value.toLowerCase() : (value as number));
}

/** The body for the upstream; the very same bytes where nothing is different in them. */
export function patchRequest(wire: Wire, body: Uint8Array, facts: RequestFacts, upstreamModel: string): Uint8Array {
  const edits = wire.requestEdits(body, facts, upstreamModel);
  return edits.length === 0 ? body : splice(body, edits);
}

/** The same as pieces of the caller's body and what stands between them: nothing is copied. See `patchesAtOnce`. */
export function patchRequestPieces(
  wire: Wire,
  body: Uint8Array,
  facts: RequestFacts,
  upstreamModel: string,
): readonly Uint8Array[] {
  return splicedPieces(body, wire.requestEdits(body, facts, upstreamModel));
}

/** Whether the edits of a request are known without looking through much of its body. */
export function canPatchQuickly({ scansForEdits }: Wire, { streamOptionsSpan }: RequestFacts): boolean {
  if (scansForEdits === true) return false;
  return streamOptionsSpan === null || streamOptionsSpan.end - streamOptionsSpan.start <= bounds.governingBytesMax;
}
