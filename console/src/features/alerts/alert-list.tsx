import { Anchor, Button, Group, Stack } from "@mantine/core";
import { type Alert, alertKinds, type QueryInput } from "@sluice/contract";
import { IconCircleCheck } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { usePages } from "../../api/use-pages.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { When } from "../../components/figures.tsx";
import { type Filter, FilterBar } from "../../components/filter-bar.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { t } from "../../language/areas/alerts.ts";
import { linkOf, useUrlSearch, useUrlText } from "../../routes/search.ts";
import { AlertDrawer } from "./alert-drawer.tsx";
import { alertWords, toneOfAlert } from "./alert-words.ts";
import { ruleWords } from "./rule-draft.ts";

interface AlertListProps {
  /** Resolved alerts instead of open ones. */
  readonly isResolved: boolean;
  /** A slug; null: all that the user may see. */
  readonly workspace: string | null;
}

/** How often the list is refreshed. */
const everyMs = 15_000;

export function AlertList({ isResolved, workspace }: AlertListProps) {
  const state = isResolved ? "resolved" : "open";
  const search = useUrlSearch();
  const [open, setOpen] = useUrlText("alert");
  const kind = alertKinds.find((each) => each === search["kind"]);
  const query: QueryInput<"alerts.list"> = {
    state,
    ...(workspace === null ? {} : { workspace }),
    ...(kind === undefined ? {} : { kind }),
  };
  const rows = usePages("alerts.list", { query, everyMs });
  const columns = useMemo(() => alertColumns(state, setOpen), [state, setOpen]);
  return (
    <Stack gap="md">
      <FilterBar filters={[kindFilter]} alsoClears={[]} />
      <DataTable
        label={t("alerts.list.label")}
        columns={columns}
        rows={rows}
        rowKey={(alert) => alert.id}
        empty={
          <EmptyState
            icon={<IconCircleCheck />}
            title={state === "open" ? t("alerts.list.noneOpen") : t("alerts.list.none")}
          >
            {state === "open" ? t("alerts.list.noneOpenHelp") : t("alerts.list.noneHelp")}
          </EmptyState>
        }
      />
      {open !== "" && <AlertDrawer key={open} id={open} onClose={() => setOpen("")} />}
    </Stack>
  );
}

const kindFilter: Filter = {
  name: "kind",
  label: t("alerts.kind.title"),
  choices: alertKinds.map((kind) => ({ value: kind, label: t(`alerts.kind.${kind}`) })),
};

function alertColumns(state: Alert["state"], open: (id: string) => void): readonly Column<Alert>[] {
  return [
    {
      id: "alert",
      header: t("alerts.list.alert"),
      cell: (alert) => (
        <span className="key-name">
          <span>
            <StatusBadge
              status={alert.severity}
              tone={toneOfAlert(alert)}
              label={t(`alerts.severity.${alert.severity}`)}
            />{" "}
            <Anchor size="sm" className="break" renderRoot={(props) => <Link {...linkOf(alert.page)} {...props} />}>
              {alertWords(alert)}
            </Anchor>
          </span>
        </span>
      ),
    },
    { id: "kind", header: t("alerts.kind.title"), secondary: true, cell: (alert) => t(`alerts.kind.${alert.kind}`) },
    {
      id: "workspace",
      header: t("alerts.workspace"),
      cell: (alert) => alert.workspace?.slug ?? t("alerts.installation"),
    },
    {
      id: "rule",
      header: t("alerts.list.rule"),
      secondary: true,
      cell: (alert) => ruleWords(alert.rule.name, alert.kind),
    },
    { id: "opened", header: t("alerts.list.opened"), cell: (alert) => <When at={alert.opened_at} /> },
    state === "open"
      ? { id: "seen", header: t("alerts.list.lastSeen"), cell: (alert) => <When at={alert.last_seen_at} /> }
      : { id: "resolved", header: t("alerts.list.resolved"), cell: (alert) => <When at={alert.resolved_at ?? 0} /> },
    {
      id: "do",
      header: t("alerts.actions"),
      quiet: true,
      cell: (alert) => (
        <Group gap={4} justify="flex-end" wrap="nowrap">
          <Button
            variant="default"
            size="compact-xs"
            aria-label={t("alerts.list.detailsOf", { text: alertWords(alert) })}
            onClick={() => open(alert.id)}
          >
            {t("alerts.list.details")}
          </Button>
        </Group>
      ),
    },
  ];
}
