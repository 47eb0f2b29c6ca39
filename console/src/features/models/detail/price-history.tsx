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
import { t } from "../../../language/areas/models.ts";
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
    <Section title={t("models.priceHistory")} description={t("models.theNewestFirstLedgerEntries")} flush>
      <DataTable
        label={t("models.priceHistory")}
        columns={columns}
        rows={rowsIn(query, (answer) => answer.data)}
        rowKey={(version) => version.id}
        dimmed={(version) => !version.current}
        empty={
          <EmptyState icon={<IconHistory />} title={t("models.noPriceYet")}>
            {t("models.onceItHasOneEach")}
          </EmptyState>
        }
      />
    </Section>
  );
}

const readColumns: readonly Column<ConsolePriceVersion>[] = [
  {
    id: "from",
    header: t("models.from"),
    cell: (version) => (
      <>
        <When at={version.effective_from} exact />{" "}
        {version.current && <StatusBadge status="active" label={t("models.inForce")} />}
      </>
    ),
  },
  {
    id: "price",
    header: t("models.price"),
    cell: ({ price }) => (
      <span className="tabular">
        {priceItems(price)
          .map(({ label, words }) => `${label} ${words}`)
          .join(" · ") || t("models.noFigures")}
      </span>
    ),
  },
  { id: "version", header: t("models.version"), cell: (version) => <code className="aside nowrap">{version.id}</code> },
];

function reuseColumn(onUse: (price: PriceConfig) => void): Column<ConsolePriceVersion> {
  return {
    id: "use",
    header: t("models.actions"),
    quiet: true,
    cell: (version) =>
      version.current ? null : (
        <Button variant="default" size="compact-xs" onClick={() => onUse(version.price)}>
          {t("models.putIntoTheForm")}
        </Button>
      ),
  };
}
