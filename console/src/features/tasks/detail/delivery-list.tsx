import type { TaskDetail } from "@sluice/contract";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { Count, Nothing, When } from "../../../components/figures.tsx";
import { rowsOf } from "../../../components/rows.ts";
import { Section } from "../../../components/section.tsx";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { t } from "../../../language/areas/tasks.ts";

type Delivery = TaskDetail["deliveries"][number];

/** What was told to the caller's own address, and whether it was heard. */
export function DeliveryList({ deliveries }: { readonly deliveries: readonly Delivery[] }) {
  return (
    <Section title={t("tasks.messagesToTheCaller")} description={t("tasks.theRequestNamedACallback")} flush>
      <DataTable
        label={t("tasks.messagesToTheCaller")}
        columns={columns}
        rows={rowsOf(deliveries)}
        rowKey={(delivery) => delivery.url}
        empty={t("tasks.nothingWasToBeTold")}
      />
    </Section>
  );
}

const columns: readonly Column<Delivery>[] = [
  { id: "url", header: t("tasks.address"), cell: (delivery) => <span className="break">{delivery.url}</span> },
  {
    id: "state",
    header: t("tasks.state"),
    cell: (delivery) =>
      delivery.delivered_at !== null ? (
        <StatusBadge status="delivered" tone="good" />
      ) : delivery.next_at === null ? (
        <StatusBadge status="given_up" tone="bad" />
      ) : (
        <StatusBadge status="waiting" tone="busy" />
      ),
  },
  { id: "tries", header: t("tasks.tries"), align: "right", cell: (delivery) => <Count value={delivery.tries} /> },
  {
    id: "last",
    header: t("tasks.lastAnswer"),
    cell: (delivery) => {
      const said = [delivery.last_status, delivery.last_error].filter((each) => each !== null);
      return said.length === 0 ? <Nothing /> : <span className="break">{said.join(": ")}</span>;
    },
  },
  {
    id: "when",
    header: t("tasks.deliveredOrNextTry"),
    align: "right",
    cell: (delivery) => <When at={delivery.delivered_at ?? delivery.next_at} />,
  },
];
