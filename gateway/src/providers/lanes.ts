import type { Provider } from "#core/index.ts";
import { forwardHeadersProblem } from "./caller-headers.ts";
import { costSourceProblem } from "./cost-source.ts";
import { fetchesUrlsProblem } from "./fetched-urls.ts";
import { passMembersProblem } from "./governed-members.ts";
import type { Lane, ProviderKind } from "./kind.ts";
import { providerKind } from "./kinds.ts";
import { cacheMarksProblem, speaksMessages } from "./lane-traits.ts";
import { networkProblem } from "./network-settings.ts";
import { passThroughProblem } from "./pass-through/pass-through-setting.ts";
import { reasoningProblem } from "./reasoning/reasoning-setting.ts";
import { objectsProblem } from "./shared-objects.ts";

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
  const root = providerKind(provider.kind)?.rootOf?.(provider) ?? provider.baseUrl;
  return withoutSlash(root);
}

/** The base URL of an account that sets none of its own; null: it has to set one. */
export function defaultBaseUrl(kind: ProviderKind, provider: Provider): string | null {
  if (settingsProblem(kind, provider) !== null) return kind.baseUrl;
  return kind.baseUrlOf?.(provider) ?? kind.baseUrl;
}

/** Of the settings that every kind with lanes has. */
function commonProblem(provider: Provider): string | null {
  return (
    forwardHeadersProblem(provider) ??
    objectsProblem(provider) ??
    fetchesUrlsProblem(provider) ??
    reasoningProblem(provider)
  );
}

/** What is wrong with an account's settings, in one sentence that names the setting; null when nothing is. */
export function settingsProblem(kind: ProviderKind, provider: Provider): string | null {
  const named = provider.settings["endpoints"];
  if (named !== undefined) {
    const known = kind.lanes.map((lane): string => lane.endpoint);
    const wrong = Array.isArray(named) ? named.find((name) => !known.includes(name)) : named;
    if (!Array.isArray(named) || wrong !== undefined) {
      return `settings.endpoints must be a list out of: ${[...new Set(known)].join(", ")}`;
    }
  }
  const headers = kind.lanes.length === 0 ? null : commonProblem(provider);
  return (
    headers ??
    (speaksMessages(kind) ? cacheMarksProblem(provider) : null) ??
    passMembersProblem(provider) ??
    passThroughProblem(provider) ??
    costSourceProblem(provider) ??
    networkProblem(provider) ??
    kind.checkSettings?.(provider) ??
    null
  );
}

function withoutSlash(url: string): string {
  let end = url.length;
  while (end > 0 && url[end - 1] === "/") end--;
  return url.slice(0, end);
}
