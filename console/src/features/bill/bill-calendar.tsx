import type { BillDayRow } from "@sluice/contract";
import { formatUsd } from "../../client/format.ts";
import { t } from "../../language/areas/bill.ts";

const dayMs = 86_400_000;

/** The last days until today (UTC), oldest first. */
export function lastDays(count: number, now: number): readonly string[] {
  return Array.from({ length: count }, (_, n) => new Date(now - (count - 1 - n) * dayMs).toISOString().slice(0, 10));
}

interface BillCalendarProps {
  readonly provider: string;
  readonly days: readonly string[];
  readonly rows: readonly BillDayRow[];
  readonly chosen: string | null;
  readonly onChoose: (day: string) => void;
}

/** A button for each day that has a bill: green if it matches, red if a difference is unexplained. */
export function BillCalendar({ provider, days, rows, chosen, onChoose }: BillCalendarProps) {
  const byDay = new Map(rows.map((row) => [row.day, row]));
  return (
    <ol className="bill-days" aria-label={t("bill.calendar.label", { provider })}>
      {days.map((day) => {
        const row = byDay.get(day);
        const number = day.slice(8);
        const month = number === "01" || day === days[0] ? day.slice(0, 7) : null;
        return (
          <li key={day}>
            {row === undefined ? (
              <span className="bill-date" title={t("bill.calendar.missing", { day })}>
                {number}
                <span className="unseen">{t("bill.calendar.missing", { day })}</span>
              </span>
            ) : (
              <button
                type="button"
                className="bill-date"
                data-state={row.state}
                aria-pressed={day === chosen}
                aria-label={labelOf(row)}
                title={labelOf(row)}
                onClick={() => onChoose(day)}
              >
                {number}
              </button>
            )}
            {month !== null && <span className="bill-month">{month}</span>}
          </li>
        );
      })}
    </ol>
  );
}

function labelOf({ day, state, differing_usd: usd }: BillDayRow): string {
  return state === "matched"
    ? t("bill.calendar.matched", { day })
    : t("bill.calendar.different", { day, usd: formatUsd(usd) });
}
