import type { ConsoleProvider } from "@sluice/contract";
import type { Filter } from "../../../components/filter-bar.tsx";
import { t } from "../../../language/areas/providers.ts";
import type { Search } from "../../../routes/search.ts";
import { healthChoices } from "../../catalog/health-words.ts";

export const providerFilters: readonly Filter[] = [
  {
    name: "health",
    label: t("providers.health"),
    choices: healthChoices,
  },
  {
    name: "use",
    label: t("providers.list.use"),
    choices: [
      { value: "enabled", label: t("providers.list.enabled") },
      { value: "disabled", label: t("providers.list.disabled") },
      { value: "idle", label: t("providers.list.unused") },
    ],
  },
];

/** Whether a provider matches the filters in the URL. */
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
