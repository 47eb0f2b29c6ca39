import type { CacheHint } from "#core/index.ts";

/** What Converse leaves to each maker's own parameters is written for those whose parameters are known. */
export type ModelFamily = "claude" | "nova" | "gpt-oss" | "other";

/** By the maker's prefix, which also stands in profile ids and ARNs. */
export function modelFamily(upstreamModel: string): ModelFamily {
  if (/(^|[./])anthropic\.claude/.test(upstreamModel)) return "claude";
  if (/(^|[./])amazon\.nova/.test(upstreamModel)) return "nova";
  if (/(^|[./])openai\.gpt-oss/.test(upstreamModel)) return "gpt-oss";
  return "other";
}

/** A cache point behind what it covers, for models that take one: others refuse the whole request for it. */
export function writeCachePoint(cache: CacheHint | null, family: ModelFamily): { cachePoint: object }[] {
  if (cache === null || (family !== "claude" && family !== "nova")) return [];
  const ttl = family === "claude" && cache.ttl === "1h" ? { ttl: "1h" } : {};
  return [{ cachePoint: { type: "default", ...ttl } }];
}
