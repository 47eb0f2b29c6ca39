import type { TaskDetail } from "@sluice/contract";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { Count, Nothing, When } from "../../../components/figures.tsx";
import { rowsOf } from "../../../components/rows.ts";
import { Section } from "../../../components/section.tsx";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { t } from "../../../language/areas/tasks.ts";
import { tasks } from "../../../language/en/tasks.ts";
import { remarks } from "../../../language/remark.ts";

const problemWords = remarks(t, "tasks.callbacks.problem", tasks.callbacks.problem);

type Delivery = TaskDetail["deliveries"][number];

/** Callbacks to the client's URL, and their results. */
export function DeliveryList({ deliveries }: { readonly deliveries: readonly Delivery[] }) {
  return (
    <Section title={t("tasks.callbacks.title")} description={t("tasks.callbacks.help")} flush>
      <DataTable
        label={t("tasks.callbacks.title")}
        columns={columns}
        rows={rowsOf(deliveries)}
        rowKey={(delivery) => delivery.url}
        empty={t("tasks.callbacks.none")}
      />
    </Section>
  );
}

const columns: readonly Column<Delivery>[] = [
  { id: "url", header: t("tasks.callbacks.url"), cell: (delivery) => <span className="break">{delivery.url}</span> },
  {
    id: "state",
    header: t("tasks.status"),
    cell: (delivery) =>
      delivery.delivered_at !== null ? (
        <StatusBadge status="delivered" tone="good" />
      ) : delivery.next_at === null ? (
        <StatusBadge status="given_up" tone="bad" />
      ) : (
        <StatusBadge status="pending" tone="busy" />
      ),
  },
  {
    id: "tries",
    header: t("tasks.callbacks.attempts"),
    align: "right",
    cell: (delivery) => <Count value={delivery.tries} />,
  },
  {
    id: "last",
    header: t("tasks.callbacks.lastResponse"),
    cell: (delivery) => {
      const { last_status: status, last_error: error, fault } = delivery;
      if (error !== null) return <span className="break">{problemWords(fault, error)}</span>;
      return status === null ? <Nothing /> : <span>{problemWords({ code: "answered", params: { status } }, "")}</span>;
    },
  },
  {
    id: "when",
    header: t("tasks.callbacks.when"),
    align: "right",
    cell: (delivery) => <When at={delivery.delivered_at ?? delivery.next_at} />,
  },
];
