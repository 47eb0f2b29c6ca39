import type { Warn } from "../codec.ts";
import type { Edit } from "../json/bytes.ts";
import { cutNodes, type JsonNode } from "../json/node.ts";
import { sealMark } from "../turn/seal-text.ts";

/** Edits that remove blocks with another vendor's seal, and messages left empty, since Anthropic would refuse them. */
export function sealCutsInMessages(body: JsonNode, warn: Warn): readonly Edit[] {
  const cuts: Edit[] = [];
  let lostThought = false;
  for (const { items } of body.membersNamed("messages")) {
    const read = new Map(items.map((message) => [message, readMessage(message)]));
    const remaining = [...read.values()].filter(({ emptied }) => !emptied);
    cuts.push(...cutNodes(items, (message) => read.get(message)?.emptied === true));
    cuts.push(...remaining.flatMap((message) => message.cuts));
    lostThought = lostItsThinking(remaining);
  }
  return lostThought && cuts.length > 0 ? [...cuts, ...withoutThinking(body, warn)] : cuts;
}

interface MessageRead {
  readonly cuts: readonly Edit[];
  /** It held only seals. */
  readonly emptied: boolean;
  /** Its first block was a seal, and no other thinking block begins it now. */
  readonly lostThinking: boolean;
  readonly holdsResults: boolean;
  readonly holdsCalls: boolean;
}

function readMessage(message: JsonNode): MessageRead {
  const blocks = message.membersNamed("content").at(-1)?.items ?? [];
  const sealed = new Set(blocks.filter(isSealed));
  const remaining = blocks.filter((block) => !sealed.has(block));
  const types = remaining.flatMap((block) => block.textsNamed("type").slice(0, 1));
  return {
    cuts: [...cutNodes(blocks, (block) => sealed.has(block)), ...remaining.flatMap(foreignCitations)],
    emptied: blocks.length > 0 && remaining.length === 0,
    lostThinking: sealed.size > 0 && types[0] !== undefined && !thoughts.has(types[0]),
    holdsResults: types.includes("tool_result"),
    holdsCalls: types.includes("tool_use"),
  };
}

/** Citations by another vendor's model: Anthropic refuses an index that it did not make. */
function foreignCitations(block: JsonNode): readonly Edit[] {
  return block
    .membersNamed("citations")
    .flatMap(({ items }) => cutNodes(items, (one) => holdsSeal(one, "encrypted_index")));
}

const thoughts: ReadonlySet<string> = new Set(["thinking", "redacted_thinking"]);

function isSealed(block: JsonNode): boolean {
  const isThought = block.textsNamed("type").some((type) => thoughts.has(type));
  return isThought && (holdsSeal(block, "signature") || holdsSeal(block, "data"));
}

function holdsSeal(node: JsonNode, name: string): boolean {
  return node.textsNamed(name).some((text) => text.startsWith(sealMark));
}

/** Whether the current loop of tool calls lost the thinking block it began with. */
function lostItsThinking(messages: readonly MessageRead[]): boolean {
  let first: MessageRead | null = null;
  for (const message of messages.toReversed()) {
    if (message.holdsCalls) first = message;
    else if (!message.holdsResults) break;
  }
  return first?.lostThinking === true;
}

/**
 * Anthropic refuses a thinking budget if the loop of tool calls does not begin with thinking ("Preserving thinking blocks"), and
 * clear_thinking edits without thinking.
 */
function withoutThinking(body: JsonNode, warn: Warn): readonly Edit[] {
  const budgeted = body.membersNamed("thinking").filter((thinking) => thinking.textsNamed("type").includes("enabled"));
  if (budgeted.length === 0) return [];
  warn("thinking was disabled: an earlier tool call came without its thinking");
  const isClearing = (edit: JsonNode): boolean =>
    edit.textsNamed("type").some((type) => type.startsWith("clear_thinking"));
  const edits = body.membersNamed("context_management").flatMap((management) => management.membersNamed("edits"));
  return [
    ...budgeted.map(({ start, end }): Edit => ({ start, end, text: '{"type":"disabled"}' })),
    ...edits.flatMap(({ items }) => cutNodes(items, isClearing)),
  ];
}
