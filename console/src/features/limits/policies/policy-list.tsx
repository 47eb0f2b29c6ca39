import { Button } from "@mantine/core";
import { everyWorkspace } from "@sluice/contract";
import { IconPlus, IconWallet } from "@tabler/icons-react";
import { useMemo } from "react";
import { useCall } from "../../../api/use-call.ts";
import { DataTable } from "../../../components/data-table.tsx";
import { EmptyState } from "../../../components/empty-state.tsx";
import { rowsIn } from "../../../components/rows.ts";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/limits.ts";
import { useUrlText } from "../../../routes/search.ts";
import { useSession } from "../../../session/session-context.tsx";
import { policyColumns } from "./policy-columns.tsx";
import { PolicyDrawer } from "./policy-drawer.tsx";

const newPolicy = "new";

/** `workspace`: a slug; null: the installation. The URL holds the open policy. */
export function PolicyList({ workspace }: { readonly workspace: string | null }) {
  const { user, may } = useSession();
  const [open, setOpen] = useUrlText("budget");
  const query = useCall("budgets.list", { params: { workspace: workspace ?? everyWorkspace } });
  const mayCreate = workspace === null ? user.administrator : may("admin", workspace);
  const columns = useMemo(() => policyColumns({ open: setOpen, mayChange: mayCreate }), [setOpen, mayCreate]);
  const opened = query.data?.data.find(({ id, inherited }) => id === open && !inherited) ?? null;
  const create = mayCreate && (
    <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={() => setOpen(newPolicy)}>
      {t("limits.policy.create")}
    </Button>
  );
  return (
    <Section title={t("limits.policy.title")} description={t("limits.policy.description")} actions={create} flush>
      <DataTable
        label={t("limits.policy.title")}
        columns={columns}
        rows={rowsIn(query, ({ data }) => data)}
        rowKey={({ id }) => id}
        dimmed={({ enabled, managed_by }) => !enabled || managed_by === "suspended"}
        empty={
          <EmptyState icon={<IconWallet />} title={t("limits.policy.empty")} action={create}>
            {t("limits.policy.emptyHelp")}
          </EmptyState>
        }
      />
      {mayCreate && open === newPolicy && (
        <PolicyDrawer policy={null} workspace={workspace} onClose={() => setOpen("")} />
      )}
      {opened !== null && <PolicyDrawer key={open} policy={opened} workspace={workspace} onClose={() => setOpen("")} />}
    </Section>
  );
}
