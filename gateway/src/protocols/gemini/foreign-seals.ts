import type { Edit } from "../json/bytes.ts";
import { cutNodes, type JsonNode } from "../json/node.ts";
import { isForeignSeal, needsSignatures, placeholderSignature } from "./encodings.ts";

/**
 * Edits that remove another vendor's seals: thoughts that carry one, and signatures of calls and texts. A call that needs a signature
 * gets the placeholder.
 */
export function sealCutsInContents(body: JsonNode, upstreamModel: string): readonly Edit[] {
  const signs = needsSignatures(upstreamModel);
  return body.membersNamed("contents").flatMap(({ items }) => sealCuts(items, signs));
}

function sealCuts(contents: readonly JsonNode[], signs: boolean): readonly Edit[] {
  const cuts: Edit[] = [];
  const removed = new Set<JsonNode>();
  /** The model has called a tool since the user's last turn. */
  let called = false;
  /** Parts of a thought before the one with its signature. */
  let thought: JsonNode[] = [];
  for (const content of contents) {
    if (!content.textsNamed("role").includes("model")) {
      called = false;
      thought = [];
    }
    for (const part of partsOf(content)) {
      const names = part.members.map(({ name }) => name);
      const isThought = part.membersNamed("thought").some(({ isTrue }) => isTrue);
      if (isThought && !names.some(isSignature)) {
        thought.push(part);
        continue;
      }
      const sealed = part.members.filter(({ name, text }) => isSignature(name) && isForeignSeal(text ?? ""));
      const isCall = names.includes("functionCall") || names.includes("function_call");
      if (sealed.length > 0 && !isCall && (isThought || isOnlySignature(part))) {
        for (const one of [...thought, part]) removed.add(one);
      } else if (isCall && signs && !called) {
        cuts.push(...sealed.map(({ start, end }) => ({ start, end, text: JSON.stringify(placeholderSignature) })));
      } else cuts.push(...cutNodes(part.members, (member) => sealed.includes(member)));
      thought = [];
      called ||= isCall;
    }
  }
  const isEmptied = (content: JsonNode): boolean => {
    const parts = partsOf(content);
    return parts.length > 0 && parts.every((part) => removed.has(part));
  };
  const lists = contents.filter((content) => !isEmptied(content)).flatMap((content) => content.membersNamed("parts"));
  const cutParts = lists.flatMap(({ items }) => cutNodes(items, (part) => removed.has(part)));
  return [...cutNodes(contents, isEmptied), ...cutParts, ...cuts];
}

function partsOf(content: JsonNode): readonly JsonNode[] {
  return content.membersNamed("parts").flatMap(({ items }) => items);
}

function isSignature(name: string): boolean {
  return name === "thoughtSignature" || name === "thought_signature";
}

function isOnlySignature(part: JsonNode): boolean {
  return part.members.every(({ name, text }) => isSignature(name) || (name === "text" && text === ""));
}
