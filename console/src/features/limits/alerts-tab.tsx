import { Button } from "@mantine/core";
import { IconBell, IconPlus } from "@tabler/icons-react";
import { useMemo } from "react";
import { useCall } from "../../api/use-call.ts";
import { DataTable } from "../../components/data-table.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { rowsIn } from "../../components/rows.ts";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/limits.ts";
import { useUrlText } from "../../routes/search.ts";
import { useSession } from "../../session/session-context.tsx";
import { WebhookSecret } from "../workspaces/webhook-secret.tsx";
import { alertColumns } from "./alert-columns.tsx";
import { AlertDrawer } from "./alert-drawer.tsx";

const newAlert = "new";

/** Alerts on budget thresholds. The URL holds the open one. */
export function AlertsTab({ workspace }: { readonly workspace: string }) {
  const mayChange = useSession().may("admin", workspace);
  const [open, setOpen] = useUrlText("notice");
  const query = useCall("notices.list", { params: { workspace } });
  const columns = useMemo(() => alertColumns(workspace, mayChange ? setOpen : null), [workspace, mayChange, setOpen]);
  const opened = query.data?.data.find((alert) => alert.id === open) ?? null;
  const make = mayChange ? (
    <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={() => setOpen(newAlert)}>
      {t("limits.alert.create")}
    </Button>
  ) : undefined;
  // Also while loading, so that the list does not move later.
  const some = query.data?.data.length !== 0;
  return (
    <Section
      title={t("limits.alert.title")}
      description={t("limits.alert.description")}
      actions={
        mayChange && (
          <>
            <WebhookSecret workspace={workspace} />
            {some && make}
          </>
        )
      }
      flush
    >
      <DataTable
        label={t("limits.alert.title")}
        columns={columns}
        rows={rowsIn(query, (page) => page.data)}
        rowKey={(alert) => alert.id}
        dimmed={(alert) => !alert.enabled}
        empty={
          <EmptyState icon={<IconBell />} title={t("limits.alert.empty")} action={make}>
            {t("limits.alert.emptyHelp")}
          </EmptyState>
        }
      />
      {mayChange && (open === newAlert || opened !== null) && (
        <AlertDrawer key={open} workspace={workspace} alert={opened} onClose={() => setOpen("")} />
      )}
    </Section>
  );
}
