import type { ConsoleProvider } from "@sluice/contract";
import { formatShare } from "../../../client/format.ts";
import type { Column } from "../../../components/data-table.tsx";
import { Count, Duration, Nothing } from "../../../components/figures.tsx";
import { ManagedByFile } from "../../../components/managed-by-file.tsx";
import { HealthBadge } from "../../catalog/health-badge.tsx";
import { failedShare } from "../../catalog/health-words.ts";

/** A provider with what its kind is called. */
export type ProviderRow = ConsoleProvider & { readonly title: string };

const stateRanks = { down: 0, unhealthy: 1, degraded: 2, unknown: 3, healthy: 4 } as const;

export const providerColumns: readonly Column<ProviderRow>[] = [
  {
    id: "id",
    header: "Provider",
    cell: (provider) => (
      <>
        {provider.id} <ManagedByFile by={provider.managed_by} />
      </>
    ),
    sortBy: (provider) => provider.id,
  },
  { id: "kind", header: "Kind", cell: (provider) => provider.title, sortBy: (provider) => provider.title },
  { id: "url", header: "Address", cell: (provider) => <span className="aside">{provider.base_url}</span> },
  {
    id: "health",
    header: "Health",
    cell: (provider) => <HealthBadge health={provider.health} enabled={provider.enabled} />,
    sortBy: (provider) => (provider.enabled ? stateRanks[provider.health.state] : 4),
  },
  {
    id: "hour",
    header: "Last hour",
    cell: (provider) => <LastHour provider={provider} />,
    sortBy: (provider) => provider.health.last_hour?.attempts ?? null,
    align: "right",
  },
  {
    id: "latency",
    header: "Latency",
    cell: (provider) => <Duration ms={provider.health.latency_ms} />,
    sortBy: (provider) => provider.health.latency_ms,
    align: "right",
  },
  {
    id: "deployments",
    header: "Deployments",
    cell: (provider) => <Count value={provider.deployments} />,
    sortBy: (provider) => provider.deployments,
    align: "right",
  },
];

function LastHour({ provider }: { readonly provider: ConsoleProvider }) {
  const hour = provider.health.last_hour;
  const failed = failedShare(provider.health);
  if (hour === null || failed === null) return <Nothing word="no calls" />;
  return (
    <span>
      <Count value={hour.attempts} short unit={hour.attempts === 1 ? "attempt" : "attempts"} />
      {hour.failed > 0 && <span className="failed-share"> {formatShare(failed)} failed</span>}
    </span>
  );
}
