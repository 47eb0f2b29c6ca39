import type { Provider } from "#core/index.ts";
import type { DialectTraits } from "#protocols/index.ts";
import type { Lane, ProviderKind } from "./kind.ts";
import { reasoningBy } from "./reasoning/reasoning-rule.ts";
import { saidReasoning } from "./reasoning/reasoning-setting.ts";

/** What is different about a lane of this account for this model: as its kind knows it, then as its operator says it. */
export function laneTraits(kind: ProviderKind, provider: Provider, lane: Lane, upstreamModel: string): DialectTraits {
  const known = reasoningBy(kind.reasoning ?? [], upstreamModel);
  const said = saidReasoning(provider, upstreamModel);
  const reasoning = known === null && said === null ? {} : { reasoning: { ...known?.takes, ...said } };
  const marks = lane.dialect === "anthropic-messages" && provider.settings[cacheMarksSetting] === true;
  return {
    ...lane.traits,
    ...known?.also,
    ...lane.traitsOf?.(provider),
    ...(marks ? { cacheMarks: true } : {}),
    ...reasoning,
  };
}

/** A setting of kinds that speak Messages: translated calls get cache marks that their callers did not ask for. */
export const cacheMarksSetting = "cache_marks";

export function speaksMessages({ lanes }: ProviderKind): boolean {
  return lanes.some(({ dialect }) => dialect === "anthropic-messages");
}

/** What is wrong with `settings.cache_marks`; null when nothing is. */
export function cacheMarksProblem({ settings }: Provider): string | null {
  const said = settings[cacheMarksSetting];
  return said === undefined || typeof said === "boolean" ? null : `settings.${cacheMarksSetting} must be true or false`;
}
