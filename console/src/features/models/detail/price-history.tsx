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

const pageSize = 50;

interface PriceHistoryProps {
  readonly model: string;
  /** Puts an earlier price into the form. Absent: read-only. */
  readonly onUse?: (price: PriceConfig) => void;
}

/** All price versions of a model. Each ledger entry names its version. */
export function PriceHistory({ model, onUse }: PriceHistoryProps) {
  const query = useCall("models.prices", { params: { model } });
  const columns = useMemo(() => (onUse === undefined ? readColumns : [...readColumns, reuseColumn(onUse)]), [onUse]);
  return (
    <Section title={t("models.history.title")} description={t("models.history.help")} flush>
      <DataTable
        label={t("models.history.title")}
        columns={columns}
        pageSize={pageSize}
        rows={rowsIn(query, (answer) => answer.data)}
        rowKey={(version) => version.id}
        dimmed={(version) => !version.current}
        empty={
          <EmptyState icon={<IconHistory />} title={t("models.history.empty")}>
            {t("models.history.emptyHelp")}
          </EmptyState>
        }
      />
    </Section>
  );
}

const readColumns: readonly Column<ConsolePriceVersion>[] = [
  {
    id: "from",
    header: t("models.history.from"),
    cell: (version) => (
      <>
        <When at={version.effective_from} exact />{" "}
        {version.current && <StatusBadge status="active" label={t("models.history.current")} />}
        {version.effective_from > Date.now() && <StatusBadge status="pending" label={t("models.history.upcoming")} />}
        {version.origin === "price_list" && <span className="aside">{t("models.history.fromPriceList")}</span>}
      </>
    ),
  },
  {
    id: "price",
    header: t("models.price.title"),
    cell: ({ price }) => (
      <span className="tabular">
        {priceItems(price)
          .map(({ label, words }) => `${label} ${words}`)
          .join(" · ") || t("models.history.noFigures")}
      </span>
    ),
  },
  {
    id: "version",
    header: t("models.history.version"),
    cell: (version) => <code className="aside nowrap">{version.id}</code>,
  },
];

function reuseColumn(onUse: (price: PriceConfig) => void): Column<ConsolePriceVersion> {
  return {
    id: "use",
    header: t("models.actions"),
    quiet: true,
    cell: (version) =>
      version.current ? null : (
        <Button variant="default" size="compact-xs" onClick={() => onUse(version.price)}>
          {t("models.history.use")}
        </Button>
      ),
  };
}
