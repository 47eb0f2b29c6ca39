import type { Citation } from "#core/index.ts";
import { fileCitation, urlCitation } from "../citations.ts";
import { arrayOf, countOf, isObject, type JsonObject, objectOf, textOf } from "../json-value.ts";

/** One citation of a text: of a page of the web, of a search result, or of a document of the request. */
export function readCitation(citation: JsonObject): Citation | null {
  const quote = arrayOf(citation["sourceContent"])
    .map((part) => textOf(objectOf(part)["text"]) ?? "")
    .join("");
  const more = { quote: quote === "" ? null : quote };
  const title = textOf(citation["title"]);
  const location = objectOf(citation["location"]);
  if (isObject(location["web"])) return urlCitation(textOf(location["web"]["url"]), title, more);
  const from = textOf(citation["source"]);
  if (isObject(location["searchResultLocation"])) return urlCitation(from, title, more);
  const [place] = Object.values(location);
  return fileCitation({ fileId: null, name: title ?? from, index: countOf(objectOf(place)["documentIndex"]) }, more);
}
