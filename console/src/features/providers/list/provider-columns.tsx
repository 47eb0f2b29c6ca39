import type { ConsoleProvider } from "@sluice/contract";
import { formatShare } from "../../../client/format.ts";
import type { Column } from "../../../components/data-table.tsx";
import { Count, Duration, Nothing } from "../../../components/figures.tsx";
import { ManagedByFile } from "../../../components/managed-by-file.tsx";
import { ProviderName } from "../../../components/vendors/vendor-logo.tsx";
import { t } from "../../../language/areas/providers.ts";
import { HealthBadge } from "../../catalog/health-badge.tsx";
import { failedShare } from "../../catalog/health-words.ts";

/** A provider with the title of its type. */
export type ProviderRow = ConsoleProvider & { readonly title: string };

const stateRanks = { down: 0, unhealthy: 1, degraded: 2, unknown: 3, healthy: 4 } as const;
const disabledRank = 5;

export const providerColumns: readonly Column<ProviderRow>[] = [
  {
    id: "id",
    header: t("providers.provider"),
    cell: (provider) => (
      <ProviderName id={provider.id} kind={provider.kind}>
        {provider.id} <ManagedByFile by={provider.managed_by} />
      </ProviderName>
    ),
    sortBy: (provider) => provider.id,
  },
  { id: "kind", header: t("providers.kind"), cell: (provider) => provider.title, sortBy: (provider) => provider.title },
  { id: "url", header: t("providers.address"), cell: (provider) => <span className="aside">{provider.base_url}</span> },
  {
    id: "health",
    header: t("providers.health"),
    cell: (provider) => <HealthBadge health={provider.health} enabled={provider.enabled} />,
    sortBy: (provider) => (provider.enabled ? stateRanks[provider.health.state] : disabledRank),
  },
  {
    id: "hour",
    header: t("providers.lastHour"),
    cell: (provider) => <LastHour provider={provider} />,
    sortBy: (provider) => provider.health.last_hour?.attempts ?? null,
    align: "right",
  },
  {
    id: "latency",
    header: t("providers.latency"),
    cell: (provider) => <Duration ms={provider.health.latency_ms} />,
    sortBy: (provider) => provider.health.latency_ms,
    align: "right",
  },
  {
    id: "deployments",
    header: t("providers.deployments"),
    cell: (provider) => <Count value={provider.deployments} />,
    sortBy: (provider) => provider.deployments,
    align: "right",
  },
];

function LastHour({ provider }: { readonly provider: ConsoleProvider }) {
  const hour = provider.health.last_hour;
  const failed = failedShare(provider.health);
  if (hour === null || failed === null) return <Nothing word={t("providers.list.noAttempts")} />;
  return (
    <span>
      <span className="tabular">{t("providers.attempts", { count: hour.attempts })}</span>
      {hour.failed > 0 && (
        <span className="failed-share">{t("providers.list.failed", { share: formatShare(failed) })}</span>
      )}
    </span>
  );
}
