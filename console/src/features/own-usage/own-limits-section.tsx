import { Text } from "@mantine/core";
import { useCall } from "../../api/use-call.ts";
import { DataTable } from "../../components/data-table.tsx";
import { rowsIn } from "../../components/rows.ts";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/profile.ts";
import { useSession } from "../../session/session-context.tsx";
import { useWorkspace } from "../../session/workspace.ts";
import { limitUsageColumns } from "../limits/limit-usage-columns.tsx";
import { kindWords } from "../limits/limit-usage-words.ts";

const refreshMs = 10_000;

/** All limits and budgets that apply to the user's requests, with their usage. */
export function OwnLimitsSection() {
  const { user } = useSession();
  const { path } = useWorkspace();
  const limits = useCall("limits.list", {
    params: { workspace: path },
    query: { person: user.id },
    everyMs: refreshMs,
    keepBefore: true,
  });
  return (
    <Section flush title={t("profile.own.limits.title")} description={t("profile.own.limits.help")}>
      <DataTable
        label={t("profile.own.limits.title")}
        columns={limitUsageColumns}
        rows={rowsIn(limits, (answer) => answer.data)}
        rowKey={(row) => `${row.scope} ${row.scope_id} ${row.workspace.id} ${kindWords(row)}`}
        sortedBy="-used"
        empty={
          <Text ta="center" c="dimmed" fz="sm" py="md">
            {t("profile.own.limits.empty")}
          </Text>
        }
      />
    </Section>
  );
}
