import type { BodyInput, ReportInterval, ReportPeriod, SavedView, ScheduledReport } from "@sluice/contract";
import { localZone } from "../../../components/use-time-range.ts";
import { t } from "../../../language/areas/reports.ts";
import { locale } from "../../../language/chosen.ts";

/** Views that can be sent without saving one, by their value in the form. */
const builtIn: Readonly<Record<string, string>> = { usage: "", chargeback: "tab=chargeback" };
/** The view of a stored report, unchanged. */
export const storedView = "stored";

export interface ReportDraft {
  readonly name: string;
  /** `storedView`, the name of a built-in view, or the id of a saved one. */
  readonly view: string;
  readonly every: ReportInterval;
  readonly weekday: number;
  readonly monthDay: number;
  readonly hour: number;
  readonly timeZone: string;
  readonly period: ReportPeriod;
  readonly channels: readonly string[];
  readonly attachCsv: boolean;
  readonly enabled: boolean;
}

export function emptyReport(view: SavedView | null): ReportDraft {
  return {
    ...{ name: view?.name ?? "", view: view?.id ?? "usage", every: "week", weekday: 1, monthDay: 1, hour: 8 },
    ...{ timeZone: localZone, period: "interval", channels: [], attachCsv: true, enabled: true },
  };
}

export function reportDraftOf(report: ScheduledReport): ReportDraft {
  const { name, every, day, hour, period, channels, enabled } = report;
  return {
    ...{ name, view: storedView, every, hour, period, channels, enabled },
    weekday: every === "week" ? (day ?? 1) : 1,
    monthDay: every === "month" ? (day ?? 1) : 1,
    timeZone: report.time_zone,
    attachCsv: report.attach_csv,
  };
}

export function reportBodyOf(
  draft: ReportDraft,
  stored: string,
  views: readonly SavedView[],
): BodyInput<"scheduledReports.create"> {
  const { name, view, every, hour, timeZone, period, channels, attachCsv, enabled } = draft;
  const days = { day: null, week: draft.weekday, month: draft.monthDay } as const;
  const state = view === storedView ? stored : (views.find(({ id }) => id === view)?.state ?? builtIn[view] ?? "");
  return {
    ...{ name: name.trim(), state, every, day: days[every], hour, time_zone: timeZone, period },
    ...{ channels: [...channels], attach_csv: attachCsv, enabled },
  };
}

/** Why a report cannot be saved; null if it can. */
export function reportBlockedBy({ name, channels }: ReportDraft): string | null {
  if (name.trim() === "") return t("reports.form.missingName");
  return channels.length === 0 ? t("reports.form.missingChannel") : null;
}

/** 1: Monday. */
export function weekdayName(day: number): string {
  // 2024-01-01 was a Monday.
  return new Intl.DateTimeFormat(locale, { weekday: "long", timeZone: "UTC" }).format(Date.UTC(2024, 0, day));
}

export function hourText(hour: number): string {
  return `${String(hour).padStart(2, "0")}:00`;
}

export function timesText({ every, day, hour, time_zone: zone }: ScheduledReport): string {
  const time = hourText(hour);
  const times = {
    day: () => t("reports.times.day", { time }),
    week: () => t("reports.times.week", { weekday: weekdayName(day ?? 1), time }),
    month: () => t("reports.times.month", { day: day ?? 1, time }),
  }[every]();
  return t("reports.times.zone", { times, zone });
}
