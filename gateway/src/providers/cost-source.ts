import type { CostSource, Provider } from "#core/index.ts";

/** A setting of every kind: which figure is booked where answers say what they cost. */
export const costSourceSetting = "cost_source";

/** null: the account does not say it. */
export function costSourceOf({ settings }: Pick<Provider, "settings">): CostSource | null {
  const said = settings[costSourceSetting];
  return isCostSource(said) ? said : null;
}

/** What is wrong with `settings.cost_source`; null when nothing is. */
export function costSourceProblem({ settings }: Provider): string | null {
  const said = settings[costSourceSetting];
  if (said === undefined || said === null || said === "" || isCostSource(said)) return null;
  return `settings.${costSourceSetting} must be price or vendor`;
}

function isCostSource(value: unknown): value is CostSource {
  return value === "price" || value === "vendor";
}
