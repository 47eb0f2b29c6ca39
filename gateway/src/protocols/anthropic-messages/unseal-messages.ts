import type { Warn } from "../codec.ts";
import type { Edit } from "../json/bytes.ts";
import type { Span } from "../json/cursor.ts";
import { cutsFrom, itemsAt, type MemberPlace, membersAt, stringAt } from "../json/places.ts";
import { sealMark } from "../turn/seal-text.ts";

/**
 * What gives way in a messages request, so that Anthropic is shown no seal of another vendor: the blocks that are one, and
 * messages that held nothing else. `start`: where the body's object begins.
 */
export function unsealMessages(bytes: Buffer, start: number, warn: Warn): readonly Edit[] {
  const root = membersAt(bytes, start);
  const cuts: Edit[] = [];
  let unthought = false;
  for (const messages of root.filter(({ name }) => name === "messages")) {
    const places = itemsAt(bytes, messages.start);
    const read = places.map((place) => readMessage(bytes, place));
    const emptied = new Set(places.filter((_, index) => read[index]?.emptied === true));
    cuts.push(...cutsFrom(places, emptied));
    cuts.push(...read.filter(({ emptied }) => !emptied).flatMap((message) => message.cuts));
    unthought = lostItsThought(read.filter(({ emptied }) => !emptied));
  }
  if (unthought && cuts.length > 0) cuts.push(...withoutThinking(bytes, root, warn));
  return cuts;
}

interface MessageRead {
  readonly cuts: readonly Edit[];
  /** It held seals and nothing else. */
  readonly emptied: boolean;
  /** Its first block was a seal, and no other thought begins it now. */
  readonly unthought: boolean;
  readonly holdsResults: boolean;
  readonly holdsCalls: boolean;
}

const untouched: MessageRead = {
  cuts: [],
  emptied: false,
  unthought: false,
  holdsResults: false,
  holdsCalls: false,
};

function readMessage(bytes: Buffer, { start }: Span): MessageRead {
  return membersAt(bytes, start)
    .filter(({ name }) => name === "content")
    .map((content) => readContent(bytes, content))
    .reduce((_, last) => last, untouched);
}

function readContent(bytes: Buffer, content: Span): MessageRead {
  const places = itemsAt(bytes, content.start);
  if (places.length === 0) return untouched;
  const blocks = places.map((place) => readBlock(bytes, place));
  const gone = new Set(places.filter((_, index) => blocks[index]?.sealed === true));
  const types = blocks.filter(({ sealed }) => !sealed).flatMap((block) => block.types.slice(0, 1));
  return {
    cuts: [
      ...cutsFrom(places, gone),
      ...places.flatMap((place) => (gone.has(place) ? [] : foreignCitations(bytes, place))),
    ],
    emptied: gone.size === places.length,
    unthought: gone.size > 0 && types[0] !== undefined && !thoughts.has(types[0]),
    holdsResults: types.includes("tool_result"),
    holdsCalls: types.includes("tool_use"),
  };
}

/** Of a text that another vendor's model wrote: Anthropic would refuse an index that it did not make. */
function foreignCitations(bytes: Buffer, { start }: Span): readonly Edit[] {
  return membersAt(bytes, start)
    .filter(({ name }) => name === "citations")
    .flatMap((citations) => {
      const places = itemsAt(bytes, citations.start);
      const foreign = places.filter((place) =>
        stringsOf(bytes, membersAt(bytes, place.start), "encrypted_index").some((text) => text.startsWith(sealMark)),
      );
      return cutsFrom(places, new Set(foreign));
    });
}

const thoughts: ReadonlySet<string> = new Set(["thinking", "redacted_thinking"]);

/** A member that stands twice counts both times: readers differ in which one they take. */
function readBlock(bytes: Buffer, { start }: Span): { readonly types: readonly string[]; readonly sealed: boolean } {
  const members = membersAt(bytes, start);
  const types = stringsOf(bytes, members, "type");
  if (!types.some((type) => thoughts.has(type))) return { types, sealed: false };
  const signs = [...stringsOf(bytes, members, "signature"), ...stringsOf(bytes, members, "data")];
  return { types, sealed: signs.some((text) => text.startsWith(sealMark)) };
}

function stringsOf(bytes: Buffer, members: readonly MemberPlace[], wanted: string): string[] {
  return members.flatMap((member) => {
    const text = member.name === wanted ? stringAt(bytes, member) : null;
    return text === null ? [] : [text];
  });
}

/** Whether the running loop of tool calls began with a thought that was a seal, and now begins without one. */
function lostItsThought(messages: readonly MessageRead[]): boolean {
  let first: MessageRead | null = null;
  for (const message of messages.toReversed()) {
    if (message.holdsCalls) first = message;
    else if (!message.holdsResults) break;
  }
  return first?.unthought === true;
}

/**
 * With a budget for thoughts, Anthropic refuses a running loop of tool calls that does not begin with one (its docs, "Preserving
 * thinking blocks"), and without thinking an edit that clears thoughts. `adaptive` thinking asks for neither.
 */
function withoutThinking(bytes: Buffer, root: readonly MemberPlace[], warn: Warn): readonly Edit[] {
  const budgeted = root.filter(
    (member) =>
      member.name === "thinking" &&
      membersAt(bytes, member.start).some((one) => one.name === "type" && stringAt(bytes, one) === "enabled"),
  );
  if (budgeted.length === 0) return [];
  warn("thinking was switched off: an earlier tool call came without its thinking");
  const off = budgeted.map(({ start, end }): Edit => ({ start, end, text: '{"type":"disabled"}' }));
  return [...off, ...withoutClearing(bytes, root)];
}

function withoutClearing(bytes: Buffer, root: readonly MemberPlace[]): readonly Edit[] {
  return root
    .filter(({ name }) => name === "context_management")
    .flatMap(({ start }) => membersAt(bytes, start))
    .filter(({ name }) => name === "edits")
    .flatMap(({ start }) => {
      const places = itemsAt(bytes, start);
      const clearing = places.filter((place) =>
        stringsOf(bytes, membersAt(bytes, place.start), "type").some((type) => type.startsWith("clear_thinking")),
      );
      return cutsFrom(places, new Set(clearing));
    });
}
