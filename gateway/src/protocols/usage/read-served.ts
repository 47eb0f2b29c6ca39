import { nameLengthMax } from "@sluice/contract/words";
import { type HeaderReader, type NanoUsd, type Served, usdToNano } from "#core/index.ts";
import type { UsageReading } from "../dialect.ts";
import { arrayOf, isObject, type JsonObject, numberOf, objectOf, textOf, withoutNulls } from "../json/value.ts";

/**
 * Reads how an answer was served, by which model, and its cost. The members have the same meaning at any place, so one reader serves all
 * dialects. `answer`: the members of the answer without its usage. Undefined: nothing unusual.
 *
 * - OpenAI, Anthropic and those like them: `model`. Gemini: `modelVersion`. Bedrock: `trace.promptRouter.invokedModelId`. Where
 *   Anthropic asked a fallback model: `model` of the last of the usage's `iterations` (Anthropic, "Refusals and fallback").
 * - OpenAI, xAI, OpenRouter: `service_tier` of the answer. Anthropic: `service_tier`, `inference_geo` and `speed` of its usage.
 * - Gemini: `serviceTier` of its usage; Vertex: `trafficType` (`ON_DEMAND_PRIORITY`). Bedrock: `serviceTier.type`.
 * - xAI: `cost_in_usd_ticks`, of which 10^10 are a USD. OpenRouter, Vercel, LiteLLM: `cost`. Perplexity: `cost.total_cost`.
 */
export function readServed(answer: JsonObject, reported: unknown): Served | undefined {
  const usage = objectOf(reported);
  const tier =
    tierWord(answer["service_tier"]) ??
    tierWord(objectOf(answer["serviceTier"])["type"]) ??
    tierWord(usage["service_tier"]) ??
    tierWord(usage["serviceTier"]) ??
    tierWord(usage["trafficType"]);
  const fallback = fallbackModel(usage["iterations"]);
  const invoked = objectOf(objectOf(answer["trace"])["promptRouter"])["invokedModelId"];
  const model = fallback ?? modelName(answer["model"] ?? answer["modelVersion"] ?? invoked);
  const geo = tierWord(usage["inference_geo"]);
  return servedOf(model, fallback !== undefined, tier, costIn(usage), geo, tierWord(usage["speed"]));
}

/** Reads the headers of Bedrock, LiteLLM or another Sluice. */
export function readServedHeaders(headers: HeaderReader): Served | undefined {
  const tier = headers.get("x-amzn-bedrock-service-tier");
  const cost = headers.get("x-sluice-cost-usd") ?? headers.get("x-litellm-response-cost");
  if (tier === null && cost === null) return undefined;
  return servedOf(undefined, false, tierWord(tier), usdOf(numberIn(cost)));
}

/** Merges both; the body wins. */
export function withServed(body: Served | undefined, headers: Served | undefined): Served | undefined {
  return body === undefined || headers === undefined ? (body ?? headers) : { ...headers, ...body };
}

function servedOf(
  model: string | undefined,
  byFallback: boolean,
  tier: string | undefined,
  vendorCostNanoUsd: NanoUsd | undefined,
  geo?: string,
  speed?: string,
): Served | undefined {
  const isPlain = tier === undefined && geo === undefined && speed === undefined && vendorCostNanoUsd === undefined;
  if (isPlain && !byFallback) return model === undefined ? undefined : { model };
  return withoutNulls({ model, byFallback: byFallback || null, tier, geo, speed, vendorCostNanoUsd });
}

function modelName(value: unknown): string | undefined {
  const name = textOf(value);
  if (name === null || name === "") return undefined;
  if (name.length <= nameLengthMax && plainName.test(name)) return name;
  return name.slice(0, nameLengthMax).replaceAll(/[^\x21-\x7e]/g, "?");
}

const plainName = /^[\x21-\x7e]+$/;

/** The fallback model that answered last, if any. */
function fallbackModel(iterations: unknown): string | undefined {
  if (iterations === undefined) return undefined;
  const last = objectOf(arrayOf(iterations).at(-1));
  return last["type"] === "fallback_message" ? modelName(last["model"]) : undefined;
}

/** Vendors' names for their default tier and region. */
const ordinaryTiers: ReadonlySet<string> = new Set([
  ...["auto", "default", "standard", "standard_only", "on_demand", "unspecified", "none", ""],
  ...["global", "not_available", "normal"],
]);

/** `ON_DEMAND_FLEX`, `SERVICE_TIER_FLEX` and `PROVISIONED_THROUGHPUT` (Google) become flex and provisioned. */
function tierWord(value: unknown): string | undefined {
  const text = textOf(value);
  if (text === null || ordinaryTiers.has(text)) return undefined;
  const word = text
    .toLowerCase()
    .replace(/^(?:on_demand_|service_tier_|traffic_type_)/, "")
    .replace(/_throughput$/, "");
  if (ordinaryTiers.has(word)) return undefined;
  return word.slice(0, wordCharactersMax).replaceAll(/[^a-z0-9_.-]/g, "?");
}

const wordCharactersMax = 32;

function costIn(usage: JsonObject): NanoUsd | undefined {
  const ticks = numberOf(usage["cost_in_usd_ticks"]);
  if (ticks !== null) return usdOf(ticks / ticksPerUsd);
  const { cost } = usage;
  if (isObject(cost)) return usdOf(numberOf(cost["total_cost"]));
  const own = numberOf(cost) ?? numberOf(usage["estimated_cost"]);
  // With the caller's own key, `cost` is only OpenRouter's fee; otherwise it includes the upstream's cost.
  const upstream =
    usage["is_byok"] === true ? numberOf(objectOf(usage["cost_details"])["upstream_inference_cost"]) : null;
  return own === null && upstream === null ? undefined : usdOf((own ?? 0) + (upstream ?? 0));
}

const ticksPerUsd = 10_000_000_000;

/** Some report 0 when they do not know. At least one nano-USD. */
function usdOf(usd: number | null): NanoUsd | undefined {
  if (usd === null || !(usd > 0)) return undefined;
  return Math.min(Math.max(1, usdToNano(usd)), Number.MAX_SAFE_INTEGER);
}

function numberIn(text: string | null): number | null {
  return text !== null && /^\d{1,15}(?:\.\d{1,30})?(?:e-?\d{1,2})?$/i.test(text) ? numberOf(Number(text)) : null;
}

/** The side that a usage object leaves out. */
export function missingSideOf(input: number | null, output: number | null): UsageReading["missingSide"] {
  if (input !== null) return output === null ? "output" : undefined;
  return output === null ? "both" : "input";
}
