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
  return { ...lane.traits, ...known?.also, ...lane.traitsOf?.(provider), ...reasoning };
}
