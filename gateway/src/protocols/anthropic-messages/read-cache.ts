import type { CacheHint } from "#core/index.ts";
import { isObject, type JsonObject } from "../json-value.ts";

/** The `cache_control` of a block or a tool. */
export function readCache(block: JsonObject): CacheHint | null {
  const control = block["cache_control"];
  if (!isObject(control)) return null;
  const ttl = control["ttl"];
  return { ttl: ttl === "5m" || ttl === "1h" ? ttl : null };
}
