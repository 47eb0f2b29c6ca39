import { Failure, type HeaderReader } from "#core/index.ts";
import type { PathFacts } from "#protocols/index.ts";
import type { Exchange } from "./dependencies.ts";

/** Google's own prefix. Its SDK from version 3 on asks below `/v1/models/` instead, where other vendors' clients look models up. */
export const geminiPrefix = "/v1beta/models/";

/** What is asked of a model whose name has a slash may come without `models/`: Vercel's AI SDK leaves it out then. */
export const geminiRoot = "/v1beta/";

/** What is asked of a model: the word behind the last colon of the path. Model names may hold slashes and colons before it. */
export function verbOf(path: string): string {
  return path.slice(path.lastIndexOf(":") + 1);
}

/** The model that a path of Google's names, as it is or percent-encoded. Throws Failure invalid_request. */
export function modelAsked({ path }: Exchange, available: (model: string) => boolean): PathFacts {
  return { model: named(belowPrefix(path, path.lastIndexOf(":")), available), stream: false };
}

/** The model behind the prefix, whichever it is, when nothing is asked of it. */
export function modelNamed(path: string, available: (model: string) => boolean): string {
  return named(belowPrefix(path, path.length), available);
}

/** A client of Google's, by the header in which it sends its key or says what it is. */
export function isGoogles(headers: HeaderReader): boolean {
  return headers.has("x-goog-api-key") || headers.has("x-goog-api-client");
}

function belowPrefix(path: string, end: number): string {
  const prefix = [geminiPrefix, geminiRoot, modelPrefix].find((one) => path.startsWith(one)) ?? "";
  return path.slice(prefix.length, end);
}

/** Google's SDK puts `models/` before a name that does not begin so, and nothing before one that does. */
function named(encoded: string, available: (model: string) => boolean): string {
  const name = decodedName(encoded);
  const whole = `models/${name}`;
  return !available(name) && available(whole) ? whole : name;
}

function decodedName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    throw new Failure("invalid_request", "The model in the path is not valid percent-encoding.", { param: "model" });
  }
}

/** Model names may hold slashes: everything behind this prefix is the name. */
export const modelPrefix = "/v1/models/";
