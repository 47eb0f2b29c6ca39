import { Button } from "@mantine/core";
import type { ConsolePriceVersion, PriceConfig } from "@sluice/contract";
import { IconHistory } from "@tabler/icons-react";
import { useMemo } from "react";
import { useCall } from "../../../api/use-call.ts";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { EmptyState } from "../../../components/empty-state.tsx";
import { When } from "../../../components/figures.tsx";
import { rowsIn } from "../../../components/rows.ts";
import { Section } from "../../../components/section.tsx";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { priceItems } from "../../catalog/price-words.ts";

interface PriceHistoryProps {
  readonly model: string;
  /** Puts an earlier price into the form. Left out: nothing may be changed. */
  readonly onUse?: (price: PriceConfig) => void;
}

/** Every price a model had. Each entry of the ledger says which one it was charged at. */
export function PriceHistory({ model, onUse }: PriceHistoryProps) {
  const query = useCall("models.prices", { params: { model } });
  const columns = useMemo(() => (onUse === undefined ? readColumns : [...readColumns, reuseColumn(onUse)]), [onUse]);
  return (
    <Section
      title="Price history"
      description="The newest first. Ledger entries keep the version they were charged at."
      flush
    >
      <DataTable
        label="Price history"
        columns={columns}
        rows={rowsIn(query, (answer) => answer.data)}
        rowKey={(version) => version.id}
        dimmed={(version) => !version.current}
        empty={
          <EmptyState icon={<IconHistory />} title="No price yet">
            Once it has one, each change is kept here with the time from which it counted.
          </EmptyState>
        }
      />
    </Section>
  );
}

const readColumns: readonly Column<ConsolePriceVersion>[] = [
  {
    id: "from",
    header: "From",
    cell: (version) => (
      <>
        <When at={version.effective_from} exact /> {version.current && <StatusBadge status="active" label="In force" />}
      </>
    ),
  },
  {
    id: "price",
    header: "Price",
    cell: ({ price }) => (
      <span className="tabular">
        {priceItems(price)
          .map(({ label, words }) => `${label} ${words}`)
          .join(" · ") || "No figures"}
      </span>
    ),
  },
  { id: "version", header: "Version", cell: (version) => <code className="aside nowrap">{version.id}</code> },
];

function reuseColumn(onUse: (price: PriceConfig) => void): Column<ConsolePriceVersion> {
  return {
    id: "use",
    header: "Actions",
    quiet: true,
    cell: (version) =>
      version.current ? null : (
        <Button variant="default" size="compact-xs" onClick={() => onUse(version.price)}>
          Put into the form
        </Button>
      ),
  };
}
