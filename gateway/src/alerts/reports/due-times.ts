import type { ReportInterval } from "@sluice/contract/words";
import { localDays, momentOf, openTimeZone } from "#core/index.ts";

const dayMs = 86_400_000;
const hourMs = 3_600_000;

/** When a report is sent. `day`: of the week (1: Monday) or of the month. */
export interface ReportTimes {
  readonly every: ReportInterval;
  readonly day: number | null;
  readonly hour: number;
  readonly time_zone: string;
}

/** Unix milliseconds. */
export interface Period {
  readonly from: number;
  readonly to: number;
}

/** The first time of the schedule after a moment. */
export function nextDue(times: ReportTimes, after: number): number {
  const zone = openTimeZone(times.time_zone);
  return dueAt(zone, times, latestTurn(zone, times, after) + 1);
}

/** The last time of the schedule until a moment. */
export function lastDue(times: ReportTimes, until: number): number {
  const zone = openTimeZone(times.time_zone);
  return dueAt(zone, times, latestTurn(zone, times, until));
}

/** The whole days between the previous time of the schedule and this one, and the period before. Both begin and end with whole hours. */
export function intervalBefore(times: ReportTimes, due: number): Period & { readonly compared: Period } {
  const zone = openTimeZone(times.time_zone);
  const turn = latestTurn(zone, times, due);
  const midnight = (number: number) => Math.ceil(momentOf(zone, dayOf(times, number) * dayMs) / hourMs) * hourMs;
  const [before, from, to] = [midnight(turn - 2), midnight(turn - 1), midnight(turn)];
  return { from, to, compared: { from: before, to: from } };
}

/** The number of the last turn until a moment. Turns are the days, weeks or months since 1970. */
function latestTurn(zone: Intl.DateTimeFormat, times: ReportTimes, until: number): number {
  const day = (localDays(zone, until, until + 1)[0]?.local ?? until) / dayMs;
  let turn = turnNear(times, day);
  while (dueAt(zone, times, turn) > until) turn--;
  while (dueAt(zone, times, turn + 1) <= until) turn++;
  return turn;
}

function dueAt(zone: Intl.DateTimeFormat, times: ReportTimes, turn: number): number {
  return momentOf(zone, dayOf(times, turn) * dayMs + times.hour * hourMs);
}

/** 1970-01-05 was a Monday. */
const firstMonday = 4;

/** The local day of a turn, in days since 1970. */
function dayOf({ every, day }: ReportTimes, turn: number): number {
  if (every === "day") return turn;
  if (every === "week") return firstMonday + 7 * turn + (day ?? 1) - 1;
  const last = new Date(Date.UTC(1970, turn + 1, 0)).getUTCDate();
  return Date.UTC(1970, turn, Math.min(day ?? 1, last)) / dayMs;
}

function turnNear({ every }: ReportTimes, day: number): number {
  if (every === "day") return day;
  if (every === "week") return Math.floor((day - firstMonday) / 7);
  const date = new Date(day * dayMs);
  return (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
}
