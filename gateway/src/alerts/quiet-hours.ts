import type { AlertQuietHours } from "@sluice/contract/console";

const minuteMs = 60_000;
/** A step of the search for the end; time zones differ by whole quarters of an hour. */
const stepMs = 15 * minuteMs;
/** Also with a clock change, quiet hours end within this time. */
const longestMs = 26 * 3_600_000;

/** The end of the quiet hours that `now` is in; null: it is in none. Hours that are equal cover the whole day, so nothing is quiet. */
export function quietUntil(hours: AlertQuietHours | null, now: number): number | null {
  if (hours === null || hours.from === hours.to) return null;
  const minuteOf = localMinute(hours.time_zone);
  const [from, to] = [minutesOf(hours.from), minutesOf(hours.to)];
  const isQuiet = (at: number) => {
    const minute = minuteOf(at);
    return from < to ? minute >= from && minute < to : minute >= from || minute < to;
  };
  if (!isQuiet(now)) return null;
  const start = Math.floor(now / minuteMs) * minuteMs;
  let end = start + stepMs;
  while (isQuiet(end) && end - start < longestMs) end += stepMs;
  while (!isQuiet(end - minuteMs) && end - minuteMs > now) end -= minuteMs;
  return end;
}

function minutesOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));
}

/** Minutes since midnight in a time zone. */
function localMinute(timeZone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat("en-GB", { timeZone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  return (at) => minutesOf(format.format(at));
}
