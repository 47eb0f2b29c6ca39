import { type Provider, webhookKey } from "#core/index.ts";
import type { DialectTraits } from "#protocols/index.ts";
import type { BatchAdapter } from "./batch-adapter.ts";
import type { Lane, ProviderKind } from "./kind.ts";
import { settingsProblem } from "./kind-form.ts";
import { providerKind } from "./kinds.ts";
import { configuredReasoning, reasoningBy } from "./reasoning/reasoning-rule.ts";

/** The account's lanes in its provider type's order: the default ones, or those in `settings.endpoints`. */
export function lanesOf(kind: ProviderKind, provider: Provider): readonly Lane[] {
  const named = provider.settings["endpoints"];
  if (Array.isArray(named)) return kind.lanes.filter((lane) => named.includes(lane.endpoint));
  return kind.lanes.filter((lane) => lane.onlyWhenNamed !== true);
}

/** The URL of a call. The model's name becomes one path segment. */
export function laneUrl(provider: Provider, lane: Lane, upstreamModel: string, stream: boolean): string {
  const root = rootOf(provider);
  const path = stream ? (lane.streamPath ?? lane.path) : lane.path;
  return (lane.rootOf?.(root) ?? root) + path.replaceAll("{model}", () => encodeURIComponent(upstreamModel));
}

/** The normalized base URL, without a trailing slash. */
export function rootOf(provider: Provider): string {
  return (providerKind(provider.kind)?.rootOf?.(provider) ?? provider.baseUrl).replace(/\/+$/, "");
}

/** The base URL if the account sets none; null: it must set one. */
export function defaultBaseUrl(kind: ProviderKind, provider: Provider): string | null {
  if (settingsProblem(kind, provider) !== null) return kind.baseUrl;
  return kind.baseUrlOf?.(provider) ?? kind.baseUrl;
}

/** The traits of a lane for this model, with the account's settings. */
export function laneTraits(kind: ProviderKind, provider: Provider, lane: Lane, upstreamModel: string): DialectTraits {
  const builtIn = reasoningBy(kind.reasoning ?? [], upstreamModel);
  const configured = configuredReasoning(provider, upstreamModel);
  const reasoning = builtIn === null && configured === null ? {} : { reasoning: { ...builtIn?.takes, ...configured } };
  const marks = lane.dialect === "anthropic-messages" && provider.settings["cache_marks"] === true;
  return {
    ...lane.traits,
    ...builtIn?.also,
    ...lane.traitsOf?.(provider),
    ...(marks ? { cacheMarks: true } : {}),
    ...reasoning,
  };
}

/** The vendor's batches, if the account uses them; else null. */
export function batchesOf({ batches }: ProviderKind, { settings }: Provider): BatchAdapter | null {
  return batches !== undefined && settings["batches"] === true ? batches : null;
}

/** The key of the vendor's webhooks about batches; null: the account accepts none. */
export function batchWebhookKey({ batches }: ProviderKind, { settings }: Provider): Uint8Array | null {
  const secret = batches?.readHint === undefined ? null : settings["webhook_secret"];
  return typeof secret === "string" ? webhookKey(secret) : null;
}
