import { linePattern } from "@sluice/contract/words";
import { bounds, Failure, type HeaderReader, type Principal } from "#core/index.ts";

const tagBytesMax = 128;
const tagsHeader = "x-sluice-tags";

/** In the header, it names the session of the call, and is not a tag: there would be as many values as conversations. */
const sessionTag = "session";

/** Labels for the ledger: the caller's header (`x-sluice-tags: team=search,feature=ask`), overridden by the key's own tags. */
export function readTags(headers: HeaderReader, principal: Principal): Tags {
  return withKeyTags(sentTags(headers), principal);
}

type Tags = Readonly<Record<string, string>>;

/** The tags of the header; null: there is none. Throws Failure invalid_request. */
export function sentTags(headers: HeaderReader): Tags | null {
  const header = headers.get(tagsHeader);
  if (header === null) return null;
  const { [sessionTag]: _, ...tags } = parseTags(header);
  return tags;
}

export function withKeyTags(sent: Tags | null, { key }: Principal): Tags {
  return sent === null ? key.tags : { ...sent, ...key.tags };
}

/** The tag `session` of the header; null if it is absent or the header is not valid. */
export function sessionTagOf(headers: HeaderReader): string | null {
  const header = headers.get(tagsHeader);
  if (header === null || !header.includes(sessionTag)) return null;
  try {
    return parseTags(header)[sessionTag] ?? null;
  } catch {
    // `readTags` reports it.
    return null;
  }
}

/** Throws Failure invalid_request. */
function parseTags(header: string): Record<string, string> {
  if (!linePattern.test(header)) throw wrong("must not contain control characters");
  const tags: Record<string, string> = {};
  const pairs = header.split(",", bounds.tagsMax + 1);
  if (pairs.length > bounds.tagsMax) throw wrong(`holds more than ${bounds.tagsMax} tags`);
  for (const pair of pairs) {
    const [name, value] = pair.split("=", 2).map((part) => part.trim());
    if (name === undefined || name === "" || value === undefined)
      throw wrong("must be name=value pairs, comma-separated");
    if (name.length > tagBytesMax || value.length > tagBytesMax) throw wrong("has a part that is too long");
    tags[name] = value;
  }
  return tags;
}

function wrong(why: string): Failure {
  return new Failure("invalid_request", `The header ${tagsHeader} ${why}.`, { param: tagsHeader });
}
