import type { ConsoleProvider } from "@sluice/contract";
import type { Filter } from "../../../components/filter-bar.tsx";
import { t } from "../../../language/areas/providers.ts";
import type { Search } from "../../../routes/search.ts";

export const providerFilters: readonly Filter[] = [
  {
    name: "health",
    label: t("providers.health"),
    choices: [
      { value: "healthy", label: t("providers.healthy") },
      { value: "degraded", label: t("providers.degraded") },
      { value: "unhealthy", label: t("providers.unhealthy") },
      { value: "down", label: t("providers.down") },
      { value: "unknown", label: t("providers.idle") },
    ],
  },
  {
    name: "use",
    label: t("providers.inUse"),
    choices: [
      { value: "enabled", label: t("providers.enabled") },
      { value: "disabled", label: t("providers.disabled") },
      { value: "idle", label: t("providers.noModelLeadsToIt") },
    ],
  },
];

/** Whether a provider is among those that the address asks for. */
export function fitsProvider(provider: ConsoleProvider & { readonly title: string }, search: Search): boolean {
  const { health = "", use = "" } = search;
  const part = (search["search"] ?? "").trim().toLowerCase();
  const texts = [provider.id, provider.kind, provider.title, provider.base_url];
  return (
    texts.some((text) => text.toLowerCase().includes(part)) &&
    (health === "" || provider.health.state === health) &&
    (use !== "enabled" || provider.enabled) &&
    (use !== "disabled" || !provider.enabled) &&
    (use !== "idle" || provider.deployments === 0)
  );
}
