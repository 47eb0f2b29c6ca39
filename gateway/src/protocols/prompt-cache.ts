import type { CacheHint } from "#core/index.ts";
import { type JsonObject, objectOf } from "./json-value.ts";

/**
 * Whether a request of OpenAI's dialects asks for prompt caching: by a key, a retention or its options. OpenAI caches by itself, so
 * a request without any of them asks for nothing, and costs nothing more there. null: it does not, or sets its own breakpoints.
 */
export function readAutoCache(request: JsonObject): CacheHint | null {
  const { prompt_cache_key: key, prompt_cache_retention: retention, prompt_cache_options: options } = request;
  const { mode } = objectOf(options);
  if (mode === "explicit") return null;
  if (retention === "24h") return { ttl: "1h" };
  const asks = mode === "implicit" || typeof retention === "string" || (typeof key === "string" && key !== "");
  return asks ? { ttl: null } : null;
}
