import { Failure, type HeaderReader } from "#core/index.ts";
import { anthropicMessages, type Dialect, gemini, openaiChat, type PathFacts } from "#protocols/index.ts";
import type { Exchange } from "./dependencies.ts";

/** Google's own prefix. Its SDK uses `/v1/models/` from version 3 on, where other vendors' clients look up models. */
export const geminiPrefix = "/v1beta/models/";

/** Vercel's AI SDK omits `models/` before a model name with a slash. */
export const geminiRoot = "/v1beta/";

/** The action on a model: the word after the last colon of the path. Model names may have slashes and colons. */
export function actionOf(path: string): string {
  return path.slice(path.lastIndexOf(":") + 1);
}

/** The model in a path with an action. Throws Failure invalid_request. */
export function factsOfPath({ path }: Exchange, available: (model: string) => boolean): PathFacts {
  return { model: modelInPath(path.slice(0, path.lastIndexOf(":")), available), stream: false };
}

/** The dialect of a client at a path that several vendors share, by its headers. */
export function vendorDialect(headers: HeaderReader): Dialect {
  if (headers.has("anthropic-version") || headers.has("anthropic-beta")) return anthropicMessages;
  return isGoogles(headers) ? gemini : openaiChat;
}

/** Whether the client is one of Google's, by the header of its key or of its version. */
export function isGoogles(headers: HeaderReader): boolean {
  return headers.has("x-goog-api-key") || headers.has("x-goog-api-client");
}

/**
 * The model in a path without an action, plain or percent-encoded. Google's SDK adds `models/` to a name unless the name begins with
 * it. Throws Failure invalid_request.
 */
export function modelInPath(path: string, available: (model: string) => boolean): string {
  const prefix = [geminiPrefix, geminiRoot, modelPrefix].find((one) => path.startsWith(one)) ?? "";
  const name = decode(path.slice(prefix.length));
  const full = `models/${name}`;
  return !available(name) && available(full) ? full : name;
}

function decode(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    throw new Failure("invalid_request", "The model in the path is not valid percent-encoding.", { param: "model" });
  }
}

/** Model names may have slashes: the whole rest of the path is the name. */
export const modelPrefix = "/v1/models/";
