import { bounds, Failure, type HeaderReader, type Principal } from "#core/index.ts";

/** Labels for the ledger: `x-sluice-tags: team=search,feature=ask` from the caller, and the key's own, which stand above. */
export function readTags(headers: HeaderReader, principal: Principal): Readonly<Record<string, string>> {
  const header = headers.get("x-sluice-tags");
  if (header === null) return principal.key.tags;
  const tags: Record<string, string> = {};
  const pairs = header.split(",", bounds.tagsMax + 1);
  if (pairs.length > bounds.tagsMax) throw wrong(`holds more than ${bounds.tagsMax} tags`);
  for (const pair of pairs) {
    const [name, value] = pair.split("=", 2).map((part) => part.trim());
    if (name === undefined || name === "" || value === undefined)
      throw wrong("must be name=value pairs, comma-separated");
    if (name.length > bounds.tagBytesMax || value.length > bounds.tagBytesMax)
      throw wrong("has a part that is too long");
    tags[name] = value;
  }
  return { ...tags, ...principal.key.tags };
}

function wrong(why: string): Failure {
  return new Failure("invalid_request", `The header x-sluice-tags ${why}.`, { param: "x-sluice-tags" });
}
