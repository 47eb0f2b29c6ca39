import type { Provider } from "#core/index.ts";
import type { DialectTraits } from "#protocols/index.ts";
import type { Lane, ProviderKind } from "./kind.ts";
import { settingsProblem } from "./kind-form.ts";
import { providerKind } from "./kinds.ts";
import { reasoningBy, saidReasoning } from "./reasoning/reasoning-rule.ts";

/** The lanes that this account offers, in its kind's order: the usual ones, or those that `settings.endpoints` names. */
export function lanesOf(kind: ProviderKind, provider: Provider): readonly Lane[] {
  const named = provider.settings["endpoints"];
  if (Array.isArray(named)) return kind.lanes.filter((lane) => named.includes(lane.endpoint));
  return kind.lanes.filter((lane) => lane.onlyWhenNamed !== true);
}

/** Where a call of this lane goes. The model's name is one path segment, whatever stands in it. */
export function laneUrl(provider: Provider, lane: Lane, upstreamModel: string, stream: boolean): string {
  const root = rootOf(provider);
  const path = stream ? (lane.streamPath ?? lane.path) : lane.path;
  return (lane.rootOf?.(root) ?? root) + path.replaceAll("{model}", () => encodeURIComponent(upstreamModel));
}

/** The base URL that lanes stand below, without a slash at its end. */
export function rootOf(provider: Provider): string {
  return (providerKind(provider.kind)?.rootOf?.(provider) ?? provider.baseUrl).replace(/\/+$/, "");
}

/** The base URL of an account that sets none of its own; null: it has to set one. */
export function defaultBaseUrl(kind: ProviderKind, provider: Provider): string | null {
  if (settingsProblem(kind, provider) !== null) return kind.baseUrl;
  return kind.baseUrlOf?.(provider) ?? kind.baseUrl;
}

/** What is different about a lane of this account for this model: as its kind knows it, then as its operator says it. */
export function laneTraits(kind: ProviderKind, provider: Provider, lane: Lane, upstreamModel: string): DialectTraits {
  const known = reasoningBy(kind.reasoning ?? [], upstreamModel);
  const said = saidReasoning(provider, upstreamModel);
  const reasoning = known === null && said === null ? {} : { reasoning: { ...known?.takes, ...said } };
  const marks = lane.dialect === "anthropic-messages" && provider.settings["cache_marks"] === true;
  return {
    ...lane.traits,
    ...known?.also,
    ...lane.traitsOf?.(provider),
    ...(marks ? { cacheMarks: true } : {}),
    ...reasoning,
  };
}
