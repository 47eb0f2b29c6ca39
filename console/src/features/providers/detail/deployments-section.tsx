import { Button } from "@mantine/core";
import type { ConsoleDeployment, ConsoleProvider } from "@sluice/contract";
import { IconBox } from "@tabler/icons-react";
import { useMemo } from "react";
import { useCall } from "../../../api/use-call.ts";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { EmptyState } from "../../../components/empty-state.tsx";
import { Duration, Nothing } from "../../../components/figures.tsx";
import { rowsIn, rowsOf } from "../../../components/rows.ts";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/providers.ts";
import { useUrlText } from "../../../routes/search.ts";
import { HealthBadge } from "../../catalog/health-badge.tsx";
import { typeWords } from "../../catalog/price-words.ts";

interface Row extends ConsoleDeployment {
  readonly model: string;
  readonly type: keyof typeof typeWords;
}

const refreshMs = 15_000;
const pageSize = 50;
const noRows: readonly Row[] = [];

/** The models that use a provider, with their upstream names. */
export function DeploymentsSection({ provider }: { readonly provider: ConsoleProvider }) {
  const [, setTab] = useUrlText("tab", "overview");
  const query = useCall("models.list", { everyMs: refreshMs });
  const found = useMemo(
    () =>
      (query.data?.data ?? []).flatMap((model) =>
        model.deployments
          .filter((deployment) => deployment.provider === provider.id)
          .map((deployment): Row => {
            // A deployment of a disabled provider gets no requests.
            const enabled = deployment.enabled && provider.enabled;
            return { ...deployment, enabled, model: model.name, type: model.type };
          }),
      ),
    [query.data, provider.id, provider.enabled],
  );
  return (
    <Section title={t("providers.deployments")} description={t("providers.deploymentsHelp")} flush>
      <DataTable
        label={t("providers.deployments")}
        columns={columns}
        pageSize={pageSize}
        rows={provider.deployments === 0 && query.data === undefined ? rowsOf(noRows) : rowsIn(query, () => found)}
        waitingRows={Math.min(provider.deployments, pageSize)}
        rowKey={(row) => row.id}
        rowLink={(row) => ({ to: "/models/$model", params: { model: row.model }, search: {} })}
        dimmed={(row) => !row.enabled}
        empty={
          <EmptyState
            icon={<IconBox />}
            title={t("providers.noDeployments")}
            action={<Button onClick={() => setTab("import")}>{t("providers.import.title")}</Button>}
          >
            {t("providers.noDeploymentsHelp")}
          </EmptyState>
        }
      />
    </Section>
  );
}

const columns: readonly Column<Row>[] = [
  { id: "model", header: t("providers.model"), cell: (row) => row.model, sortBy: (row) => row.model },
  {
    id: "upstream",
    header: t("providers.upstreamModel"),
    cell: (row) => row.upstream_model,
    sortBy: (row) => row.upstream_model,
  },
  { id: "type", header: t("providers.type"), cell: (row) => typeWords[row.type], sortBy: (row) => row.type },
  {
    id: "health",
    header: t("providers.health"),
    cell: (row) => <HealthBadge health={row.health} enabled={row.enabled} />,
  },
  {
    id: "hour",
    header: t("providers.lastHour"),
    cell: (row) => <Attempts count={row.health.last_hour?.attempts ?? null} />,
    sortBy: (row) => row.health.last_hour?.attempts ?? null,
    align: "right",
  },
  {
    id: "latency",
    header: t("providers.latency"),
    cell: (row) => <Duration ms={row.health.latency_ms} />,
    sortBy: (row) => row.health.latency_ms,
    align: "right",
  },
];

function Attempts({ count }: { readonly count: number | null }) {
  return count === null ? <Nothing /> : <span className="tabular">{t("providers.attempts", { count })}</span>;
}
