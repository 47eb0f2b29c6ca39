import { asBuffer } from "./bytes.ts";
import { type NamesHeard, readSpan } from "./json-scan.ts";
import { skimObject, skimValue } from "./json-skim.ts";
import { textOf } from "./json-value.ts";
import { mayEscape, valueEnd, walkMembers } from "./member-walk.ts";
import { ObjectsOnce } from "./object-once.ts";
import { addressBounds } from "./unseen-costs.ts";

/** Media that a body names by address, for the upstream to fetch. */
export interface AddressedMedia {
  readonly pictures: number;
  /** Films, sounds and documents, or what may be one. */
  readonly others: number;
}

/** More than any vendor takes. */
const addressesMax = 256;

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
  const objects = new ObjectsOnce(
    bytes,
    (start) => valueEnd(bytes, start),
    (start, end) => skimObject(bytes, start, end, wanted),
  );
  /** The text of a member of the object that begins there. */
  const said = (object: number, ...names: readonly string[]): string => {
    const members = objects.at(object);
    for (const name of names) {
      const text = textOf(skimValue(bytes, members?.get(name)));
      if (text !== null) return text;
    }
    return "";
  };
  const visit = (name: string, start: number, object: number): void => {
    if (found.pictures + found.others >= addressesMax) throw new TooMany();
    const isObject = bytes[start] === OPEN_OBJECT;
    if (name === "source") {
      if (!isObject || said(start, "type") !== "url") return;
      if (said(object, "type") === "image") found.pictures++;
      else found.others++;
    } else if (isInline(bytes, start, isObject ? said(start, "url") : null)) {
      // Its bytes stand in the body.
    } else if (!isObject && isKept(textOf(readSpan(bytes, { start, end: valueEnd(bytes, start) })) ?? "")) {
      // Held by its own record.
    } else if (addressBounds[name] === "picture" || said(object, "mimeType", "mime_type").startsWith("image/")) {
      found.pictures++;
    } else found.others++;
  };
  try {
    walkMembers(bytes, places, visit);
  } catch (thrown) {
    if (!(thrown instanceof TooMany)) throw thrown;
    found.others++;
  }
  return found;
}

/** Ends the walk: what is more cannot be told apart from a document. */
class TooMany extends Error {}

/** A data URL, or nothing. `url`: of the object that stands there; null: a text does. */
function isInline(bytes: Buffer, start: number, url: string | null): boolean {
  if (url !== null) return url === "" || /^data:/i.test(url);
  return bytes[start] !== QUOTE || /^data:/i.test(bytes.toString("latin1", start + 1, start + 6));
}

const places: ReadonlySet<string> = new Set(["source", ...Object.keys(addressBounds)]);
const wanted: ReadonlySet<string> = new Set(["type", "url", "mimeType", "mime_type"]);
const marks = ['_url"', '"url"', '"fileUri"', '"file_uri"'].map((mark) => Buffer.from(mark));
const OPEN_OBJECT = 0x7b;
const QUOTE = 0x22;
