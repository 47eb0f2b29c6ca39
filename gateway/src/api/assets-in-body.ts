import type { Principal } from "#core/index.ts";
import { isObject } from "#protocols/index.ts";
import type { Face } from "./face.ts";

/** A reference as the whole of a text. */
const reference = /^asset:\/\/(as_[0-9A-Za-z]{1,64})$/i;
const mark = "asset://as_";

/**
 * A JSON body with its references to assets put in their place: what belongs to the caller's workspace and is Active.
 * A body without any is given back as it is. Throws asset_not_found, and invalid_request for one that is not Active.
 */
export async function withAssets(face: Face, principal: Principal, body: Uint8Array): Promise<Uint8Array> {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  if (!bytes.includes(mark)) return body;
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch {
    // What is wrong with it is said by whoever reads it next.
    return body;
  }
  const urls = new Map<string, string>();
  for (const id of referencesIn(value)) urls.set(id, (await face.assets.portable(principal.workspace.id, id)).url);
  return urls.size === 0 ? body : new TextEncoder().encode(JSON.stringify(replaced(value, urls)));
}

function referencesIn(value: unknown): ReadonlySet<string> {
  const ids = new Set<string>();
  const walk = (one: unknown): void => {
    if (typeof one === "string") {
      const id = reference.exec(one)?.[1];
      if (id !== undefined) ids.add(id);
    } else if (Array.isArray(one)) one.forEach(walk);
    else if (isObject(one)) Object.values(one).forEach(walk);
  };
  walk(value);
  return ids;
}

function replaced(value: unknown, urls: ReadonlyMap<string, string>): unknown {
  if (typeof value === "string") return urls.get(reference.exec(value)?.[1] ?? "") ?? value;
  if (Array.isArray(value)) return value.map((one) => replaced(one, urls));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, replaced(one, urls)]));
}
