import { Button } from "@mantine/core";
import { IconBell, IconPlus } from "@tabler/icons-react";
import { useMemo } from "react";
import { useCall } from "../../api/use-call.ts";
import { DataTable } from "../../components/data-table.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { rowsIn } from "../../components/rows.ts";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/alerts.ts";
import { useUrlText } from "../../routes/search.ts";
import { useSession } from "../../session/session-context.tsx";
import { useNewPlace } from "./place-select.tsx";
import { ruleColumns } from "./rule-columns.tsx";
import { RuleDrawer } from "./rule-drawer.tsx";

const newRule = "new";

/** The rules of all workspaces that the user may see. The URL holds the open one. `workspace`: a slug; null: all. */
export function RulesTab({ workspace }: { readonly workspace: string | null }) {
  const { user, may } = useSession();
  const [open, setOpen] = useUrlText("rule");
  const query = useCall("alertRules.list");
  const channels = useCall("alertChannels.list").data?.data;
  const columns = useMemo(
    () =>
      ruleColumns({
        channels: channels ?? [],
        open: setOpen,
        mayChange: (rule) => (rule.workspace === null ? user.administrator : may("admin", rule.workspace.slug)),
      }),
    [channels, setOpen, user, may],
  );
  const opened = query.data?.data.find((rule) => rule.id === open) ?? null;
  const place = useNewPlace(workspace);
  const create = place !== undefined && (
    <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={() => setOpen(newRule)}>
      {t("alerts.rules.create")}
    </Button>
  );
  return (
    <Section title={t("alerts.rules.title")} description={t("alerts.rules.description")} actions={create} flush>
      <DataTable
        label={t("alerts.rules.title")}
        columns={columns}
        rows={rowsIn(query, ({ data }) =>
          data.filter((rule) => workspace === null || rule.workspace === null || rule.workspace.slug === workspace),
        )}
        rowKey={(rule) => rule.id}
        dimmed={(rule) => !rule.enabled}
        empty={
          <EmptyState icon={<IconBell />} title={t("alerts.rules.empty")} action={create}>
            {t("alerts.rules.emptyHelp")}
          </EmptyState>
        }
      />
      {place !== undefined && (open === newRule || opened !== null) && (
        <RuleDrawer key={open} rule={opened} place={place} onClose={() => setOpen("")} />
      )}
    </Section>
  );
}
