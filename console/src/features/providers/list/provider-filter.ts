import type { ConsoleProvider } from "@sluice/contract";
import type { Filter } from "../../../components/filter-bar.tsx";
import type { Search } from "../../../routes/search.ts";

export const providerFilters: readonly Filter[] = [
  {
    name: "health",
    label: "Health",
    choices: [
      { value: "healthy", label: "Healthy" },
      { value: "degraded", label: "Degraded" },
      { value: "unhealthy", label: "Unhealthy" },
      { value: "down", label: "Down" },
      { value: "unknown", label: "Idle" },
    ],
  },
  {
    name: "use",
    label: "In use",
    choices: [
      { value: "enabled", label: "Enabled" },
      { value: "disabled", label: "Disabled" },
      { value: "idle", label: "No model leads to it" },
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
