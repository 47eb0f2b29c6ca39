import type { GuardrailCheckRow } from "@sluice/contract";
import { DataTable } from "../../components/data-table.tsx";
import { rowsOf } from "../../components/rows.ts";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/guardrails.ts";
import { checkColumns } from "./check-columns.tsx";

/** The findings of guardrails in a request. Renders nothing without findings. */
export function ChecksSection({ checks }: { readonly checks: readonly GuardrailCheckRow[] }) {
  if (checks.length === 0) return null;
  return (
    <Section title={t("guardrails.title")} description={t("guardrails.findings.help")} flush>
      <DataTable
        label={t("guardrails.findings.label")}
        columns={checkColumns}
        rows={rowsOf(checks)}
        rowKey={({ id }) => id}
        empty={null}
      />
    </Section>
  );
}
