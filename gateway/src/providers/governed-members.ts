import type { Provider } from "#core/index.ts";
import type { GovernedMembers, MemberRules } from "#protocols/index.ts";
import { passesMember } from "./settings.ts";

/** The fields of a request that are restricted for this account. `rules` are its provider type's own. */
export function governingFor(provider: Provider, choosing: readonly string[], rules: MemberRules): GovernedMembers {
  const names = choosing.filter((name) => !passesMember(provider, name));
  return { names, rules: { ...commonRules, ...rules } };
}

/** The default rules. Tiers and speeds above the base price are not accepted. */
const commonRules: MemberRules = {
  service_tier: { takes: ["auto", "default", "standard", "standard_only", "on_demand", "flex"] },
  serviceTier: { takes: ["auto", "default", "standard", "flex", "service_tier_standard", "service_tier_flex"] },
  speed: { takes: ["standard"] },
  // `2h` and `8h` have discounts that the answer does not report, so they would be charged in full.
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
  "agent_config.enable_bigquery_tool": {
    takes: [false],
    refused: "Data sources of the account cannot be used through the gateway.",
  },
  data_sources: { refused: "Data sources of the account cannot be used through the gateway." },
};
