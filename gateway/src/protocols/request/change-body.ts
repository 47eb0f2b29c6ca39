import { bounds, Failure } from "#core/index.ts";
import type { RequestFacts, Wire } from "../dialect.ts";
import { splice, splicedPieces } from "../json/bytes.ts";
import type { Span } from "../json/cursor.ts";
import { editBody } from "../json/edit.ts";
import { scanIfObject } from "../json/scan.ts";
import { readSmall } from "./members.ts";

/** The change to one governed member. */
interface MemberRule {
  /** Values that are harmless and pass. null always passes. */
  readonly takes?: readonly (string | number | boolean)[];
  /** Remove the object that holds the member, too. */
  readonly whole?: true;
  /** Error text: the request is refused instead of changed. */
  readonly refused?: string;
}

/** By the names of `governedMembers`. */
export type MemberRules = Readonly<Record<string, MemberRule>>;

export interface GovernedMembers {
  readonly names: readonly string[];
  /** A member without a rule is always removed. */
  readonly rules: MemberRules;
}

/**
 * Removes members that would choose a model past its grant or raise the cost, and lists them. Throws Failure invalid_request for members
 * that are refused. Such bodies are rare, so they are scanned again.
 */
export function governBody(body: Uint8Array, { names, rules }: GovernedMembers): { made: Uint8Array; left: string[] } {
  const left: string[] = [];
  /** Members to remove, by their object. */
  const inside = new Map<string, string[]>();
  const found = scanIfObject(body, new Set(names.map(holderOf)));
  for (const name of names) {
    const holder = holderOf(name);
    const member = name.slice(holder.length + 1);
    const span = found?.get(holder);
    if (span === undefined) continue;
    const value = member === "" ? readSmall(body, span) : memberOf(body, span, member);
    const { takes = [], whole, refused } = rules[name] ?? {};
    if (value === null || takes.includes(typeof value === "string" ? value.toLowerCase() : (value as number))) continue;
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

/** The value of a member of a top-level object; null if absent. */
function memberOf(body: Uint8Array, span: Span, member: string): unknown {
  const inner = body.subarray(span.start, span.end);
  return readSmall(inner, scanIfObject(inner, new Set([member]))?.get(member));
}

function holderOf(name: string): string {
  return name.split(".", 1)[0] ?? name;
}

/** The body for the upstream; the same bytes if nothing changes. */
export function patchRequest(wire: Wire, body: Uint8Array, facts: RequestFacts, upstreamModel: string): Uint8Array {
  const edits = wire.requestEdits(body, facts, upstreamModel);
  return edits.length === 0 ? body : splice(body, edits);
}

/** Like `patchRequest`, but without copying: pieces of the body and the texts between them. */
export function patchRequestPieces(
  wire: Wire,
  body: Uint8Array,
  facts: RequestFacts,
  upstreamModel: string,
): readonly Uint8Array[] {
  return splicedPieces(body, wire.requestEdits(body, facts, upstreamModel));
}

/** Whether the edits are known without scanning much of the body. */
export function canPatchQuickly({ scansForEdits }: Wire, { streamOptionsSpan }: RequestFacts): boolean {
  if (scansForEdits === true) return false;
  return streamOptionsSpan === null || streamOptionsSpan.end - streamOptionsSpan.start <= bounds.governingBytesMax;
}
