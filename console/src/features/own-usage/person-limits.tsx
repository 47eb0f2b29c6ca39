import { Text } from "@mantine/core";
import { useCall } from "../../api/use-call.ts";
import { DataTable } from "../../components/data-table.tsx";
import { rowsIn } from "../../components/rows.ts";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/profile.ts";
import { limitUsageColumns } from "../limits/limit-usage-columns.tsx";
import { kindWords } from "../limits/limit-usage-words.ts";

const refreshMs = 10_000;
const columns = limitUsageColumns(false);

interface PersonLimitsProps {
  /** A slug, or `-` for every workspace. */
  readonly workspace: string;
  readonly person: string;
  readonly help: string;
  readonly empty: string;
}

/** All limits and budgets that apply to a person's requests, with their usage. */
export function PersonLimits({ workspace, person, help, empty }: PersonLimitsProps) {
  const limits = useCall("limits.list", {
    params: { workspace },
    query: { person },
    everyMs: refreshMs,
    keepBefore: true,
  });
  return (
    <Section flush title={t("profile.own.limits.title")} description={help}>
      <DataTable
        label={t("profile.own.limits.title")}
        columns={columns}
        rows={rowsIn(limits, (answer) => answer.data)}
        rowKey={(row) => `${row.scope} ${row.scope_id} ${row.workspace.id} ${kindWords(row)}`}
        sortedBy="-used"
        empty={
          <Text ta="center" c="dimmed" fz="sm" py="md">
            {empty}
          </Text>
        }
      />
    </Section>
  );
}
