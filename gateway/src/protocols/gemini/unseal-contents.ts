import type { Edit } from "../json/bytes.ts";
import { cutsFrom, type Place } from "../json/places.ts";
import { foreignSignature, isCarried, needsSignatures } from "./encodings.ts";

/**
 * What gives way in a request to Gemini, so that it is shown no seal of another vendor: thoughts that carry one, and the
 * signatures of calls and texts. A call keeps its place and, where the model wants one, gets the signature that the vendor has for calls
 * of others.
 */
export function unsealContents(body: Place, upstreamModel: string): readonly Edit[] {
  const signs = needsSignatures(upstreamModel);
  return body.named("contents").flatMap(({ items }) => unsealList(items, signs));
}

function unsealList(contents: readonly Place[], signs: boolean): readonly Edit[] {
  const cuts: Edit[] = [];
  const gone = new Set<Place>();
  /** The model has called something since the user spoke. */
  let called = false;
  /** Parts of a thought whose signature has not come yet: it stands on the last. */
  let thought: Place[] = [];
  for (const content of contents) {
    if (!content.texts("role").includes("model")) {
      called = false;
      thought = [];
    }
    for (const part of partsOf(content)) {
      const names = part.members.map(({ name }) => name);
      const isThought = part.named("thought").some(({ isTrue }) => isTrue);
      if (isThought && !names.some(isSignature)) {
        thought.push(part);
        continue;
      }
      const sealed = part.members.filter(({ name, text }) => isSignature(name) && isCarried(text ?? ""));
      const isCall = names.includes("functionCall") || names.includes("function_call");
      if (sealed.length > 0 && !isCall && (isThought || isBare(part))) {
        for (const one of [...thought, part]) gone.add(one);
      } else if (isCall && signs && !called) {
        cuts.push(...sealed.map(({ start, end }) => ({ start, end, text: JSON.stringify(foreignSignature) })));
      } else cuts.push(...cutsFrom(part.members, (member) => sealed.includes(member)));
      thought = [];
      called ||= isCall;
    }
  }
  const isEmptied = (content: Place): boolean => {
    const parts = partsOf(content);
    return parts.length > 0 && parts.every((part) => gone.has(part));
  };
  const kept = contents.filter((content) => !isEmptied(content)).flatMap((content) => content.named("parts"));
  const cutParts = kept.flatMap(({ items }) => cutsFrom(items, (part) => gone.has(part)));
  return [...cutsFrom(contents, isEmptied), ...cutParts, ...cuts];
}

/** One list of parts, but for contents that name it twice. */
function partsOf(content: Place): readonly Place[] {
  return content.named("parts").flatMap(({ items }) => items);
}

function isSignature(name: string): boolean {
  return name === "thoughtSignature" || name === "thought_signature";
}

/** Nothing but a signature, on a text without words. */
function isBare(part: Place): boolean {
  return part.members.every(({ name, text }) => isSignature(name) || (name === "text" && text === ""));
}
