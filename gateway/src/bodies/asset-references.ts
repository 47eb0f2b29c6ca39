import { bounds, Failure } from "#core/index.ts";
import { isObject } from "#protocols/index.ts";
import { carriedMedia } from "./carried-media.ts";
import type { Job } from "./job-desk.ts";

/** A reference as the whole of a text. */
const reference = /^asset:\/\/(as_[0-9A-Za-z]{1,64})$/i;
/** Some writers escape slashes (`asset:\/\/as_…`), and the scheme may stand in any case. */
const mark = "/as_";

/** Whether a body may refer to assets at all: almost none does. */
export function mentionsAssets(body: Uint8Array): boolean {
  return Buffer.from(body.buffer, body.byteOffset, body.length).includes(mark);
}

/** The ids that a JSON body refers to. Throws invalid_request for too many. */
export const readAssets: Job<"assets"> = (body) => ({ made: null, answer: [...referencesIn(parsed(body))] });

/** Writes the body with these addresses and bytes in the place of assets. */
export const putAssets: Job<"put-assets"> = (body, { urls, media }, beside) => {
  const carried = carriedMedia(media, beside);
  const places = urls.map(([id, url]) => {
    const bytes = carried.get(url);
    return [id, bytes === undefined ? url : `data:${bytes.mediaType};base64,${bytes.data}`] as const;
  });
  return { made: new TextEncoder().encode(JSON.stringify(replaced(parsed(body), new Map(places)))), answer: null };
};

/** undefined for what is no JSON: what is wrong with it is said by whoever reads it next. */
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
      if (ids.size === bounds.assetReferencesMax && !ids.has(id)) throw tooMany();
      ids.add(id);
    } else if (Array.isArray(one)) one.forEach(walk);
    else if (isObject(one)) Object.values(one).forEach(walk);
  };
  walk(value);
  return ids;
}

function tooMany(): Failure {
  return new Failure("invalid_request", `The body refers to more than ${bounds.assetReferencesMax} assets.`);
}

function replaced(value: unknown, urls: ReadonlyMap<string, string>): unknown {
  if (typeof value === "string") return urls.get(reference.exec(value)?.[1] ?? "") ?? value;
  if (Array.isArray(value)) return value.map((one) => replaced(one, urls));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, replaced(one, urls)]));
}
