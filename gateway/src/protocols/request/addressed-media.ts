import { asBuffer } from "../json/bytes.ts";
import { OPEN_OBJECT, QUOTE } from "../json/cursor.ts";
import type { NamesHeard } from "../json/scan.ts";
import { mayEscape, textAt, walkObjects } from "../json/walk.ts";
import { addressBounds } from "../usage/unseen-costs.ts";

/** Media that a body names by address, for the upstream to fetch. */
export interface AddressedMedia {
  readonly pictures: number;
  /** Films, sounds and documents, or what may be one. */
  readonly others: number;
}

/** More than any vendor takes; and members that may be addresses. */
const addressesMax = 256;
const membersMax = 10_000;

/**
 * Of a body whose grammar was checked. One that has none is told by what a scan of the whole has `heard`, most others by a search of
 * their bytes. `isKept`: an address of an object that the vendor keeps, which is among the objects that the body names.
 */
export function addressedMedia(
  body: Uint8Array,
  heard: Pick<NamesHeard, "classes">,
  isKept = (_address: string): boolean => false,
): AddressedMedia | undefined {
  if (heard.classes === 0) return undefined;
  const bytes = asBuffer(body);
  if (!marks.some((mark) => bytes.includes(mark)) && !mayEscape(bytes)) return undefined;
  const found = { pictures: 0, others: 0 };
  const tooMany = walkObjects(bytes, places, membersMax, (member, object) => {
    const { name, start } = member;
    const isObject = bytes[start] === OPEN_OBJECT;
    let isPicture = addressBounds[name] === "picture";
    if (name === "source") {
      if (!isObject || said(bytes, member.type) !== "url") return;
      isPicture = said(bytes, object.type) === "image";
    } else {
      // Its bytes stand in the body.
      if (isInline(bytes, isObject ? member.url : start)) return;
      // Held by its own record.
      if (!isObject && isKept(said(bytes, start))) return;
      isPicture ||= said(bytes, object.mimeType).startsWith("image/");
    }
    if (found.pictures + found.others > addressesMax) return;
    // What is more is taken for documents.
    if (isPicture && found.pictures + found.others < addressesMax) found.pictures++;
    else found.others++;
  });
  if (tooMany !== null) found.others++;
  return found;
}

/** The text that begins there; empty for none. */
function said(bytes: Buffer, start: number): string {
  return start === -1 ? "" : (textAt(bytes, start) ?? "");
}

/** A data URL, or no address at all. */
function isInline(bytes: Buffer, start: number): boolean {
  return (
    bytes[start] !== QUOTE ||
    bytes[start + 1] === QUOTE ||
    /^data:/i.test(bytes.toString("latin1", start + 1, start + 6))
  );
}

const places: ReadonlySet<string> = new Set(["source", ...Object.keys(addressBounds)]);
const marks = ['_url"', '"url"', '"fileUri"', '"file_uri"'].map((mark) => Buffer.from(mark));
