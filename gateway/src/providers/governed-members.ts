import type { Provider } from "#core/index.ts";
import type { Governing, MemberRules } from "#protocols/index.ts";
import { passesMember } from "./settings.ts";

/** Which of these members are looked at for this account, and by which rules; `rules` are its kind's own. */
export function governingFor(provider: Provider, choosing: readonly string[], rules: MemberRules): Governing {
  const names = choosing.filter((name) => !passesMember(provider, name));
  return { names, rules: { ...commonRules, ...rules } };
}

/** Where a kind says nothing else. Tiers and speeds that cost more than the plain price are not among those taken. */
const commonRules: MemberRules = {
  service_tier: { takes: ["auto", "default", "standard", "standard_only", "on_demand", "flex"] },
  serviceTier: { takes: ["auto", "default", "standard", "flex", "service_tier_standard", "service_tier_flex"] },
  speed: { takes: ["standard"] },
  // `2h` and `8h` are discounted, and the answer does not say by how much: they would be charged at the full price.
  "background_options.completion_window": { takes: ["soonest"] },
  "reasoning.mode": { takes: ["standard"] },
  "access_programs.cyber": { takes: ["standard"], whole: true },
  best_of: { takes: [1] },
  "multi_agent.enabled": { takes: [false], whole: true },
  "billing_policy.bill_to": { takes: ["self"], whole: true },
  inference_geo: {
    takes: ["global"],
    refused: "Where the model runs is decided by the gateway: leave inference_geo out, or ask its operator for it.",
  },
  data_sources: { refused: "Data sources of the account cannot be used through the gateway." },
};
