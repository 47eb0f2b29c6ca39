import { Button, Group } from "@mantine/core";
import type { ScheduledReport } from "@sluice/contract";
import { IconCalendarTime, IconPlus } from "@tabler/icons-react";
import { useMemo } from "react";
import { useAct } from "../../../api/use-act.ts";
import { useCall } from "../../../api/use-call.ts";
import { ConfirmButton } from "../../../components/confirm-button.tsx";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { EmptyState } from "../../../components/empty-state.tsx";
import { Nothing, When } from "../../../components/figures.tsx";
import { rowsIn } from "../../../components/rows.ts";
import { Section } from "../../../components/section.tsx";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { t } from "../../../language/areas/reports.ts";
import { useUrlChange, useUrlText } from "../../../routes/search.ts";
import { useWorkspace } from "../../../session/workspace.ts";
import { alertProblemWords } from "../../alerts/alert-problem-words.ts";
import { timesText } from "./report-draft.ts";
import { ReportDrawer } from "./report-drawer.tsx";

const newReport = "new";

/** Reports that are sent on a schedule: the user's own, and for admins all of the workspace. The URL holds the open one. */
export function ScheduledTab() {
  const { path, may } = useWorkspace();
  const change = useUrlChange();
  const [open, setOpen] = useUrlText("report");
  const [viewId] = useUrlText("view");
  const reports = useCall("scheduledReports.list", { params: { workspace: path } });
  const views = useCall("views.list", { params: { workspace: path } });
  const columns = useMemo(() => columnsOf(setOpen, may("member")), [setOpen, may]);
  const opened = reports.data?.data.find(({ id }) => id === open) ?? null;
  const saved = views.data?.data ?? [];
  const create = may("member") && (
    <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={() => setOpen(newReport)}>
      {t("reports.create")}
    </Button>
  );
  // The form of a new report takes the name of its view.
  const isReady = open === newReport ? viewId === "" || views.data !== undefined : opened !== null;
  return (
    <Section title={t("reports.title")} description={t("reports.help")} actions={create} flush>
      <DataTable
        label={t("reports.title")}
        columns={columns}
        rows={rowsIn(reports, ({ data }) => data)}
        rowKey={({ id }) => id}
        dimmed={({ enabled }) => !enabled}
        empty={
          <EmptyState icon={<IconCalendarTime />} title={t("reports.none")} action={create}>
            {t("reports.noneHelp")}
          </EmptyState>
        }
      />
      {isReady && may("member") && (
        <ReportDrawer
          key={open}
          report={opened}
          view={saved.find(({ id }) => id === viewId) ?? null}
          views={saved}
          onClose={() => change({ report: "", view: "" })}
        />
      )}
    </Section>
  );
}

function columnsOf(open: (id: string) => void, mayChange: boolean): readonly Column<ScheduledReport>[] {
  return [
    {
      id: "name",
      header: t("reports.columns.name"),
      sortBy: ({ name }) => name.toLowerCase(),
      cell: ReportName,
    },
    { id: "times", header: t("reports.columns.times"), cell: timesText },
    {
      id: "next",
      header: t("reports.columns.next"),
      sortBy: ({ next_at: at }) => at,
      cell: ({ next_at: at }) => (at === null ? <Nothing /> : <When at={at} />),
    },
    { id: "last", header: t("reports.columns.last"), cell: LastRun },
    {
      id: "owner",
      header: t("reports.columns.owner"),
      secondary: true,
      cell: ({ owner }) => owner.name || owner.email || t("reports.ownerGone"),
    },
    {
      id: "do",
      header: t("reports.columns.actions"),
      quiet: true,
      cell: (report) => (mayChange ? <ReportActions report={report} onEdit={() => open(report.id)} /> : null),
    },
  ];
}

function ReportName({ name, enabled, problem, fault }: ScheduledReport) {
  return (
    <span className="key-name">
      <span>
        <b>{name}</b>{" "}
        {problem !== null ? (
          <StatusBadge status="failed" label={t("reports.stopped")} />
        ) : (
          !enabled && <StatusBadge status="off" label={t("reports.off")} />
        )}
      </span>
      {problem !== null && <small className="break">{alertProblemWords(fault, problem)}</small>}
    </span>
  );
}

function LastRun({ last }: ScheduledReport) {
  if (last === null) return <span className="nothing">{t("reports.never")}</span>;
  return (
    <span>
      <StatusBadge status={last.ok ? "succeeded" : "failed"} label={last.ok ? t("reports.ok") : t("reports.failed")} />{" "}
      <When at={last.at} />
    </span>
  );
}

function ReportActions({ report, onEdit }: { readonly report: ScheduledReport; readonly onEdit: () => void }) {
  const { path } = useWorkspace();
  const params = { workspace: path, report: report.id };
  const invalidates = ["scheduledReports.list", "scheduledReports.runs"] as const;
  const send = useAct("scheduledReports.send", { invalidates, done: t("reports.queued") });
  const remove = useAct("scheduledReports.remove", { invalidates, done: t("reports.removed") });
  return (
    <Group gap={4} justify="flex-end" wrap="nowrap">
      <Button
        variant="default"
        size="compact-xs"
        aria-label={t("reports.sendNowOf", { name: report.name })}
        loading={send.isPending}
        onClick={() => send.mutate({ params })}
      >
        {t("reports.sendNow")}
      </Button>
      <Button
        variant="default"
        size="compact-xs"
        aria-label={t("reports.editOf", { name: report.name })}
        onClick={onEdit}
      >
        {t("reports.edit")}
      </Button>
      <ConfirmButton
        title={t("reports.removeTitle", { name: report.name })}
        verb={t("reports.removeVerb")}
        label={t("reports.remove")}
        size="compact-xs"
        onConfirm={() => remove.mutateAsync({ params })}
      >
        {t("reports.removeHelp")}
      </ConfirmButton>
    </Group>
  );
}
