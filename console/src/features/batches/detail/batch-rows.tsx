import { Button, Stack } from "@mantine/core";
import type { BatchDetail } from "@sluice/contract";
import { Link } from "@tanstack/react-router";
import { Facts } from "../../../components/facts.tsx";
import { Count, Money } from "../../../components/figures.tsx";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/batches.ts";
import { BatchProgress, isOpen } from "../batch-progress.tsx";

/** The rows by state, what they cost, and a link to their requests. */
export function BatchRows({ batch }: { readonly batch: BatchDetail }) {
  const { rows, id, workspace } = batch;
  // The ids of a batch's requests begin with its own.
  const search = { workspace: workspace.slug, search: id.replace(/^batch_/, "req_") };
  return (
    <Section
      title={t("batches.rows.title")}
      actions={
        rows.total > 0 && (
          <Button variant="default" renderRoot={(props) => <Link to="/requests" search={search} {...props} />}>
            {t("batches.rows.requests")}
          </Button>
        )
      }
    >
      <Stack gap="md">
        <BatchProgress rows={rows} />
        <Facts
          facts={[
            { name: t("batches.rows.total"), value: <Count value={rows.total} /> },
            { name: t("batches.rows.succeeded"), value: <Count value={rows.succeeded} /> },
            { name: t("batches.rows.failed"), value: <Count value={rows.failed} /> },
            ...(isOpen(batch) ? [{ name: t("batches.rows.open"), value: <Count value={rows.open} /> }] : []),
            ...(rows.canceled > 0
              ? [{ name: t("batches.rows.canceled"), value: <Count value={rows.canceled} /> }]
              : []),
            ...(rows.expired > 0 ? [{ name: t("batches.rows.expired"), value: <Count value={rows.expired} /> }] : []),
            {
              name: isOpen(batch) ? t("batches.facts.cost") : t("batches.facts.finalCost"),
              value: <Money usd={batch.cost_usd} />,
            },
            ...(isOpen(batch)
              ? [{ name: t("batches.facts.reserved"), value: <Money usd={batch.reserved_usd} /> }]
              : []),
          ]}
        />
      </Stack>
    </Section>
  );
}
