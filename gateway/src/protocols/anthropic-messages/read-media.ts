import type { CacheHint, MediaPart, MediaSource, TextPart } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { arrayOf, isObject, type JsonObject, objectOf, textOf, wrong } from "../json/value.ts";
import { warnOfUnasked } from "../turn/warnings.ts";

/** An `image` block. */
export function readImage(block: JsonObject, param: string, warn: Warn): MediaPart {
  warnOfUnasked(block, ofImage, "an image", warn);
  const source = readSource(objectOf(block["source"]), `${param}.source`);
  return { kind: "image", source, name: null, detail: null, cache: readCache(block) };
}

const ofImage: ReadonlySet<string> = new Set(["type", "source", "cache_control"]);

/** A `document` block; one made of content blocks becomes its text, and its pictures behind it. */
export function readDocument(block: JsonObject, param: string, warn: Warn): (TextPart | MediaPart)[] {
  if (objectOf(block["citations"])["enabled"] === true) warn("citations are not understood by the upstream");
  const name = textOf(block["title"]);
  const cache = readCache(block);
  const before = contextPart(textOf(block["context"]));
  const source = objectOf(block["source"]);
  if (source["type"] !== "content") {
    const read = readSource(source, `${param}.source`);
    return [...before, { kind: "document", source: read, name, detail: null, cache }];
  }
  const content = source["content"];
  const items = typeof content === "string" ? [{ type: "text", text: content }] : arrayOf(content).filter(isObject);
  const text = items.flatMap((item) => textOf(item["text"]) ?? []).join("\n");
  const pictures = items
    .filter((item) => item["type"] === "image")
    .map((item) => readImage(item, `${param}.source`, warn));
  return [...before, { kind: "document", source: { kind: "text", text }, name, detail: null, cache }, ...pictures];
}

/** A `search_result` block as the document that it stands for, its source as the first line. */
export function readSearchResult(block: JsonObject): MediaPart {
  const texts = arrayOf(block["content"]).flatMap((item) => textOf(objectOf(item)["text"]) ?? []);
  const text = [textOf(block["source"]) ?? "", ...texts].filter((line) => line !== "").join("\n");
  return {
    kind: "document",
    source: { kind: "text", text },
    name: textOf(block["title"]),
    detail: null,
    cache: readCache(block),
  };
}

function contextPart(context: string | null): TextPart[] {
  return context === null || context === "" ? [] : [{ kind: "text", text: context, cache: null }];
}

function readSource(source: JsonObject, param: string): MediaSource {
  const type = textOf(source["type"]);
  if (type === "base64") {
    return {
      kind: "base64",
      mediaType: requireText(source, "media_type", param),
      data: requireText(source, "data", param),
    };
  }
  if (type === "url") return { kind: "url", url: requireText(source, "url", param), mediaType: null };
  if (type === "text") return { kind: "text", text: requireText(source, "data", param) };
  if (type === "file") {
    return { kind: "file", id: requireText(source, "file_id", param), dialect: "anthropic-messages" };
  }
  throw wrong(param, "is not a source that is known");
}

function requireText(source: JsonObject, name: string, param: string): string {
  const value = textOf(source[name]);
  if (value === null) throw wrong(`${param}.${name}`, "must be a string");
  return value;
}

/** The `cache_control` of a block or a tool. */
export function readCache(block: JsonObject): CacheHint | null {
  const control = block["cache_control"];
  if (!isObject(control)) return null;
  const ttl = control["ttl"];
  return { ttl: ttl === "5m" || ttl === "1h" ? ttl : null };
}
