import { Group, Select, Switch, TextInput } from "@mantine/core";
import {
  type ReportInterval,
  type ReportPeriod,
  reportIntervals,
  reportPeriods,
  type SavedView,
  type ScheduledReport,
} from "@sluice/contract";
import { useState } from "react";
import { useAct } from "../../../api/use-act.ts";
import { FormDrawer, wrongField } from "../../../components/form-drawer.tsx";
import { TimeZoneSelect } from "../../../components/time-zone-select.tsx";
import { t } from "../../../language/areas/reports.ts";
import { useWorkspace } from "../../../session/workspace.ts";
import { ChannelsField } from "../../alerts/channels-field.tsx";
import {
  emptyReport,
  hourText,
  type ReportDraft,
  reportBlockedBy,
  reportBodyOf,
  reportDraftOf,
  storedView,
  weekdayName,
} from "./report-draft.ts";
import { ReportHistory } from "./report-history.tsx";

interface ReportDrawerProps {
  /** null: a new report. */
  readonly report: ScheduledReport | null;
  /** The saved view of a new report. */
  readonly view: SavedView | null;
  readonly views: readonly SavedView[];
  readonly onClose: () => void;
}

const everyWords: Readonly<Record<ReportInterval, string>> = {
  day: t("reports.form.daily"),
  week: t("reports.form.weekly"),
  month: t("reports.form.monthly"),
};

export function ReportDrawer({ report, view, views, onClose }: ReportDrawerProps) {
  const { path, slug } = useWorkspace();
  const [draft, setDraft] = useState<ReportDraft>(() => (report === null ? emptyReport(view) : reportDraftOf(report)));
  const settings = { inline: true, invalidates: ["scheduledReports.list"] as const, onDone: onClose };
  const create = useAct("scheduledReports.create", { ...settings, done: t("reports.created") });
  const update = useAct("scheduledReports.update", { ...settings, done: t("reports.saved") });
  const act = report === null ? create : update;
  const change = (changes: Partial<ReportDraft>) => setDraft((before) => ({ ...before, ...changes }));
  const submit = () => {
    const body = reportBodyOf(draft, report?.state ?? "", views);
    if (report === null) create.mutate({ params: { workspace: path }, body });
    else update.mutate({ params: { workspace: path, report: report.id }, body });
  };
  return (
    <FormDrawer
      opened
      title={report === null ? t("reports.create") : t("reports.editOf", { name: report.name })}
      verb={report === null ? t("reports.create") : t("reports.save")}
      onClose={onClose}
      onSubmit={submit}
      saving={act.isPending}
      problem={act.error}
      blocked={reportBlockedBy(draft)}
      openedBy={["report"]}
    >
      <TextInput
        label={t("reports.form.name")}
        required
        data-autofocus
        maxLength={256}
        value={draft.name}
        onChange={(event) => change({ name: event.currentTarget.value })}
        error={wrongField(act.error, "name")}
      />
      <Select
        label={t("reports.form.view")}
        description={t("reports.form.viewHelp")}
        data={[
          ...(report === null ? [] : [{ value: storedView, label: t("reports.form.keep") }]),
          { value: "usage", label: t("reports.form.current") },
          { value: "chargeback", label: t("reports.form.chargeback") },
          ...views.map(({ id, name }) => ({ value: id, label: name })),
        ]}
        value={draft.view}
        onChange={(value) => change({ view: value ?? draft.view })}
        allowDeselect={false}
        searchable
        error={wrongField(act.error, "state")}
      />
      <TimeFields draft={draft} onChange={change} />
      <Select
        label={t("reports.form.period")}
        data={reportPeriods.map((value) => ({
          value,
          label: value === "view" ? t("reports.form.ofView") : t(`reports.form.interval.${draft.every}`),
        }))}
        value={draft.period}
        onChange={(value) => change({ period: (value ?? draft.period) as ReportPeriod })}
        allowDeselect={false}
      />
      <ChannelsField
        value={draft.channels}
        onChange={(channels) => change({ channels })}
        offers={({ workspace, kind }) => (workspace?.slug ?? null) === slug && kind !== "pagerduty"}
        help={t("reports.form.channelsHelp")}
        none={t("reports.form.noChannels")}
        error={wrongField(act.error, "channels")}
      />
      <Switch
        label={t("reports.form.csv")}
        checked={draft.attachCsv}
        onChange={(event) => change({ attachCsv: event.currentTarget.checked })}
      />
      <Switch
        label={t("reports.form.enabled")}
        checked={draft.enabled}
        onChange={(event) => change({ enabled: event.currentTarget.checked })}
      />
      {report !== null && <ReportHistory report={report} />}
    </FormDrawer>
  );
}

interface FieldsProps {
  readonly draft: ReportDraft;
  readonly onChange: (changes: Partial<ReportDraft>) => void;
}

function TimeFields({ draft, onChange }: FieldsProps) {
  const numbers = (count: number, label: (number: number) => string, first = 1) =>
    Array.from({ length: count }, (_, n) => ({ value: String(first + n), label: label(first + n) }));
  return (
    <>
      <Group grow align="flex-start">
        <Select
          label={t("reports.form.every")}
          data={reportIntervals.map((value) => ({ value, label: everyWords[value] }))}
          value={draft.every}
          onChange={(value) => onChange({ every: (value ?? draft.every) as ReportInterval })}
          allowDeselect={false}
        />
        {draft.every === "week" && (
          <Select
            label={t("reports.form.weekday")}
            data={numbers(7, weekdayName)}
            value={String(draft.weekday)}
            onChange={(value) => onChange({ weekday: Number(value ?? draft.weekday) })}
            allowDeselect={false}
          />
        )}
        {draft.every === "month" && (
          <Select
            label={t("reports.form.monthDay")}
            {...(draft.monthDay > 28 ? { description: t("reports.form.monthDayHelp") } : {})}
            data={numbers(31, String)}
            value={String(draft.monthDay)}
            onChange={(value) => onChange({ monthDay: Number(value ?? draft.monthDay) })}
            allowDeselect={false}
          />
        )}
      </Group>
      <Group grow align="flex-start">
        <Select
          label={t("reports.form.hour")}
          data={numbers(24, hourText, 0)}
          value={String(draft.hour)}
          onChange={(value) => onChange({ hour: Number(value ?? draft.hour) })}
          allowDeselect={false}
        />
        <TimeZoneSelect
          label={t("reports.form.zone")}
          value={draft.timeZone}
          onChange={(timeZone) => onChange({ timeZone })}
        />
      </Group>
    </>
  );
}
