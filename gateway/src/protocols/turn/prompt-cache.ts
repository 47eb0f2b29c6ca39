import type { CacheHint, CacheWrites } from "#core/index.ts";
import { isObject, type JsonObject, objectOf } from "../json/value.ts";

/**
 * Whether an OpenAI request asks for caching without setting breakpoints. Requests without a key, retention or options ask for nothing:
 * OpenAI caches them for free.
 */
export function readAutoCache(request: JsonObject): CacheHint | null {
  const { prompt_cache_key: key, prompt_cache_retention: retention, prompt_cache_options: options } = request;
  const { mode } = objectOf(options);
  if (mode === "explicit") return null;
  if (retention === "24h") return { ttl: "1h" };
  const asks = mode === "implicit" || typeof retention === "string" || (typeof key === "string" && key !== "");
  return asks ? { ttl: null } : null;
}

/** OpenAI's `prompt_cache_breakpoint`, or `cache_control` as used by other vendors of this dialect. */
export function readCacheHint(part: JsonObject): CacheHint | null {
  const breakpoint = part["prompt_cache_breakpoint"];
  if (isObject(breakpoint)) return { ttl: breakpoint["ttl"] === "12h" ? "1h" : null };
  return readCacheControl(part);
}

/** The `cache_control` of a block, part or tool. */
export function readCacheControl({ cache_control: control }: JsonObject): CacheHint | null {
  if (!isObject(control)) return null;
  const { ttl } = control;
  return { ttl: ttl === "5m" || ttl === "1h" ? ttl : null };
}

/**
 * The expected cache writes. Anthropic and Bedrock write only where marked; OpenAI's newer models always may, and so may translated
 * requests.
 */
export function cacheWrites(bytes: Buffer, dialect: string): CacheWrites {
  const asks = dialect !== "anthropic-messages" || bytes.includes(cacheControl);
  if (!asks) return "none";
  return bytes.includes(hourMark) || bytes.includes(halfDayMark) ? "long" : "short";
}

const cacheControl = Buffer.from("cache_control");
const hourMark = Buffer.from('"1h"');
const halfDayMark = Buffer.from('"12h"');
