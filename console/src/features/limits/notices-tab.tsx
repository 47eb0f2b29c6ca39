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
import { noticeColumns } from "./notice-columns.tsx";
import { NoticeDrawer } from "./notice-drawer.tsx";

const newNotice = "new";

/** Who is told when a budget is used up to a share. The one that is open stands in the address. */
export function NoticesTab({ workspace }: { readonly workspace: string }) {
  const mayChange = useSession().may("admin", workspace);
  const [open, setOpen] = useUrlText("notice");
  const query = useCall("notices.list", { params: { workspace } });
  const columns = useMemo(() => noticeColumns(workspace, mayChange ? setOpen : null), [workspace, mayChange, setOpen]);
  const opened = query.data?.data.find((notice) => notice.id === open) ?? null;
  const make = mayChange ? (
    <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={() => setOpen(newNotice)}>
      {t("limits.makeNotice")}
    </Button>
  ) : undefined;
  const some = (query.data?.data.length ?? 0) > 0;
  return (
    <Section
      title={t("limits.notices")}
      description={t("limits.toldOnceInAPeriod")}
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
        label={t("limits.notices")}
        columns={columns}
        rows={rowsIn(query, (page) => page.data)}
        rowKey={(notice) => notice.id}
        dimmed={(notice) => !notice.enabled}
        empty={
          <EmptyState icon={<IconBell />} title={t("limits.nobodyIsToldYet")} action={make}>
            {t("limits.whenABudgetIsUsed")}
          </EmptyState>
        }
      />
      {mayChange && (open === newNotice || opened !== null) && (
        <NoticeDrawer key={open} workspace={workspace} notice={opened} onClose={() => setOpen("")} />
      )}
    </Section>
  );
}
