import type { CacheHint } from "#core/index.ts";
import type { ModelFamily } from "./model-family.ts";

/** A cache point behind what it covers, for models that take one: others refuse the whole request for it. */
export function writeCachePoint(cache: CacheHint | null, family: ModelFamily): { cachePoint: object }[] {
  if (cache === null || (family !== "claude" && family !== "nova")) return [];
  const ttl = family === "claude" && cache.ttl === "1h" ? { ttl: "1h" } : {};
  return [{ cachePoint: { type: "default", ...ttl } }];
}
