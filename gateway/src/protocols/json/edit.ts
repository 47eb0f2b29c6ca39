import { type Edit, splice } from "./bytes.ts";
import { CLOSE_OBJECT, COMMA, OPEN_OBJECT, QUOTE, type Span, skipSpace, skipSpaceBack } from "./cursor.ts";
import { scanIfObject } from "./scan.ts";

export interface BodyEdits {
  /** Members to remove. */
  readonly remove?: readonly string[];
  /** Members to add in front, as JSON text. They replace members with the same name. */
  readonly add?: Readonly<Record<string, string>>;
  /** Members to rename, unless the new name exists. */
  readonly rename?: Readonly<Record<string, string>>;
}

/** Edits top-level members of a JSON object; other bytes stay. Anything but an object is returned unchanged, for the upstream to refuse. */
export function editBody(body: Uint8Array, { remove = [], add = {}, rename = {} }: BodyEdits): Uint8Array {
  const removed = [...new Set([...remove, ...Object.keys(add)])];
  const renames = Object.entries(rename);
  const names = new Set([...removed, ...renames.flat()]);
  const members = scanIfObject(body, names);
  if (members === null) return body;
  const open = skipSpace(body, 0);
  const edits: Edit[] = removals(body, members, removed);
  const firstRemaining = edits[0]?.start === open + 1 ? edits[0].end : open + 1;
  const empty = body[skipSpace(body, firstRemaining)] === CLOSE_OBJECT;
  const added = Object.entries(add).map(([name, json]) => `${JSON.stringify(name)}:${json}`);
  if (added.length > 0) {
    edits.unshift({ start: open + 1, end: open + 1, text: added.join() + (empty ? "" : ",") });
  }
  for (const [from, to] of renames) {
    const member = members.get(from);
    if (member === undefined || members.has(to)) continue;
    const { start, end } = nameOf(body, member);
    edits.push({ start, end, text: JSON.stringify(to) });
  }
  if (edits.length === 0) return body;
  return splice(
    body,
    edits.sort((a, b) => a.start - b.start || a.end - b.end),
  );
}

/** A member is removed with the comma before it, a run at the front with the comma after it. */
function removals(body: Uint8Array, members: ReadonlyMap<string, Span>, names: readonly string[]): Edit[] {
  const spans = names.flatMap((name) => {
    const member = members.get(name);
    return member === undefined ? [] : [{ start: nameOf(body, member).start, end: member.end }];
  });
  const edits: { start: number; end: number; text: string }[] = [];
  for (const { start, end } of spans.sort((a, b) => a.start - b.start)) {
    const before = skipSpaceBack(body, start - 1);
    const last = edits.at(-1);
    if (body[before] === OPEN_OBJECT) edits.push({ start: before + 1, end, text: "" });
    else if (last !== undefined && skipSpace(body, last.end) === before) last.end = end;
    else edits.push({ start: before, end, text: "" });
  }
  const front = edits[0];
  if (front !== undefined && body[front.start] !== COMMA) {
    const behind = skipSpace(body, front.end);
    if (body[behind] === COMMA) front.end = behind + 1;
  }
  return edits;
}

/** The span of a scanned member's name with its quotes. The name contains no quote, so the next one to the left opens it. */
function nameOf(body: Uint8Array, member: Span): Span {
  const colon = skipSpaceBack(body, member.start - 1);
  const close = skipSpaceBack(body, colon - 1);
  return { start: body.lastIndexOf(QUOTE, close - 1), end: close + 1 };
}
