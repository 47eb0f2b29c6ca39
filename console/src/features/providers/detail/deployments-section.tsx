import { Button } from "@mantine/core";
import type { ConsoleDeployment, ConsoleProvider } from "@sluice/contract";
import { IconBox } from "@tabler/icons-react";
import { useMemo } from "react";
import { useCall } from "../../../api/use-call.ts";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { EmptyState } from "../../../components/empty-state.tsx";
import { Count, Duration } from "../../../components/figures.tsx";
import { rowsIn } from "../../../components/rows.ts";
import { Section } from "../../../components/section.tsx";
import { useUrlText } from "../../../routes/search.ts";
import { HealthBadge } from "../../catalog/health-badge.tsx";
import { typeWords } from "../../catalog/price-words.ts";

interface Row extends ConsoleDeployment {
  readonly model: string;
  readonly type: keyof typeof typeWords;
}

const lookMs = 15_000;

/** Which models lead to a provider, and under which name. */
export function DeploymentsSection({ provider }: { readonly provider: ConsoleProvider }) {
  const [, setTab] = useUrlText("tab", "overview");
  const query = useCall("models.list", { everyMs: lookMs });
  const found = useMemo(
    () =>
      (query.data?.data ?? []).flatMap((model) =>
        model.deployments
          .filter((deployment) => deployment.provider === provider.id)
          .map((deployment): Row => {
            // Nothing goes to a deployment whose provider is switched off.
            const enabled = deployment.enabled && provider.enabled;
            return { ...deployment, enabled, model: model.name, type: model.type };
          }),
      ),
    [query.data, provider.id, provider.enabled],
  );
  return (
    <Section title="Deployments" description="Models that lead here." flush>
      <DataTable
        label="Deployments"
        columns={columns}
        rows={rowsIn(query, () => found)}
        rowKey={(row) => row.id}
        rowLink={(row) => ({ to: "/models/$model", params: { model: row.model }, search: {} })}
        dimmed={(row) => !row.enabled}
        empty={
          <EmptyState
            icon={<IconBox />}
            title="No model leads here yet"
            action={<Button onClick={() => setTab("import")}>Import models</Button>}
          >
            Callers ask for models. Choose some of this account's, and the gateway serves them under a name of yours.
          </EmptyState>
        }
      />
    </Section>
  );
}

const columns: readonly Column<Row>[] = [
  { id: "model", header: "Model", cell: (row) => row.model, sortBy: (row) => row.model },
  { id: "upstream", header: "Upstream model", cell: (row) => row.upstream_model, sortBy: (row) => row.upstream_model },
  { id: "type", header: "Type", cell: (row) => typeWords[row.type], sortBy: (row) => row.type },
  { id: "health", header: "Health", cell: (row) => <HealthBadge health={row.health} enabled={row.enabled} /> },
  {
    id: "hour",
    header: "Last hour",
    cell: (row) => <Count value={row.health.last_hour?.attempts ?? null} unit="attempts" />,
    sortBy: (row) => row.health.last_hour?.attempts ?? null,
    align: "right",
  },
  {
    id: "latency",
    header: "Latency",
    cell: (row) => <Duration ms={row.health.latency_ms} />,
    sortBy: (row) => row.health.latency_ms,
    align: "right",
  },
];
