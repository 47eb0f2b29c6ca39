import { Failure } from "#core/index.ts";
import { type Edit, isObject, splice } from "#protocols/index.ts";
import { type CarriedMedia, carriedMedia } from "./carried-media.ts";
import { endOfText, isName } from "./text-ends.ts";

/** References to assets in one body. */
const assetReferencesMax = 64;

/** A reference as the whole of a text. */
const reference = /^asset:\/\/(as_[0-9A-Za-z]{1,64})$/i;
/** Some writers escape slashes (`asset:\/\/as_…`), and write the scheme in any case. */
const mark = "/as_";
/** The longest reference with each of its characters written as `\u0000`, and its quotes. */
const referenceBytesMax = 6 * ("asset://as_".length + 64) + 2;
const QUOTE = 0x22;
const decoder = new TextDecoder();

/** Whether a body may refer to assets at all: almost none does. */
export function mentionsAssets(body: Uint8Array): boolean {
  return Buffer.from(body.buffer, body.byteOffset, body.length).includes(mark);
}

/** The ids that a JSON body refers to. Throws invalid_request for too many. */
export function readAssets(body: Uint8Array, _ask: null) {
  return { made: null, answer: [...referencesIn(parsed(body))] };
}

interface PutAssets {
  readonly urls: readonly (readonly [id: string, url: string])[];
  /** By the references that they replace. */
  readonly media: readonly CarriedMedia[];
}

/** Replaces assets by these addresses and bytes. Every other byte is unchanged, including numbers above 2^53. */
export function putAssets(body: Uint8Array, { urls, media }: PutAssets, beside: readonly Uint8Array[]) {
  const carried = carriedMedia(media, beside);
  const places = urls.map(([id, url]) => {
    const bytes = carried.get(url);
    return [id, bytes === undefined ? url : `data:${bytes.mediaType};base64,${bytes.data}`] as const;
  });
  return { made: splice(body, editsOf(body, new Map(places))), answer: null };
}

/** undefined if it is not JSON: the next reader reports the error. */
function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}

function referencesIn(value: unknown): ReadonlySet<string> {
  const ids = new Set<string>();
  const walk = (one: unknown): void => {
    if (typeof one === "string") {
      const id = reference.exec(one)?.[1];
      if (id === undefined) return;
      if (ids.size === assetReferencesMax && !ids.has(id)) throw tooMany();
      ids.add(id);
    } else if (Array.isArray(one)) one.forEach(walk);
    else if (isObject(one)) Object.values(one).forEach(walk);
  };
  walk(value);
  return ids;
}

function tooMany(): Failure {
  return new Failure("invalid_request", `The body refers to more than ${assetReferencesMax} assets.`);
}

/** Edits of the references in a body that was parsed as JSON before, so that quotes only delimit strings. */
function editsOf(body: Uint8Array, urls: ReadonlyMap<string, string>): Edit[] {
  const edits: Edit[] = [];
  for (let start = body.indexOf(QUOTE); start >= 0; ) {
    const end = endOfText(body, start);
    if (end - start <= referenceBytesMax && !isName(body, end)) {
      const text: unknown = JSON.parse(decoder.decode(body.subarray(start, end)));
      const url = typeof text === "string" ? urls.get(reference.exec(text)?.[1] ?? "") : undefined;
      if (url !== undefined) edits.push({ start, end, text: JSON.stringify(url) });
    }
    start = body.indexOf(QUOTE, end);
  }
  return edits;
}
