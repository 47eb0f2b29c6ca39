const dayMs = 86_400_000;

/** Whether this is the name of a time zone. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** Milliseconds that local time is ahead of UTC. */
function offsetIn(zone: Intl.DateTimeFormat, at: number): number {
  const parts = Object.fromEntries(zone.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1_000) * 1_000;
}

/** The local time of a moment, as if it were UTC. */
export function zoneTime(zone: Intl.DateTimeFormat, at: number): number {
  return at + offsetIn(zone, at);
}

export function openTimeZone(name: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat("en-US", {
    timeZone: name,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  });
}

/**
 * The moment at which clocks show a local time, which is given as if it were UTC: the first, if they show it twice. If they skip it, the
 * moment at which they do.
 */
export function momentOf(zone: Intl.DateTimeFormat, local: number): number {
  const before = local - offsetIn(zone, local - dayMs);
  const after = local - offsetIn(zone, local + dayMs);
  return [before, after].find((moment) => moment + offsetIn(zone, moment) === local) ?? before;
}

/** Start of each local day that a time touches: the moment, and the local time as if it were UTC. */
export function localDays(zone: Intl.DateTimeFormat, from: number, to: number): { at: number; local: number }[] {
  const days: { at: number; local: number }[] = [];
  const first = from + offsetIn(zone, from);
  for (let local = Math.floor(first / dayMs) * dayMs; ; local += dayMs) {
    const at = momentOf(zone, local);
    if (at >= to) return days;
    days.push({ at, local });
  }
}

/** The offsets of a time, in order, each until a moment. */
export function zoneOffsets(
  zone: Intl.DateTimeFormat,
  from: number,
  to: number,
): { until: number; offsetMs: number }[] {
  const offsets: { until: number; offsetMs: number }[] = [];
  let offsetMs = offsetIn(zone, from);
  for (let at = from; at < to; at += dayMs) {
    const next = offsetIn(zone, at + dayMs);
    if (next === offsetMs) continue;
    let [low, high] = [at, at + dayMs];
    while (high - low > 1_000) {
      const middle = Math.floor((low + high) / 2_000) * 1_000;
      if (offsetIn(zone, middle) === offsetMs) low = middle;
      else high = middle;
    }
    offsets.push({ until: high - (high % 1_000), offsetMs });
    offsetMs = next;
  }
  return [...offsets, { until: Number.MAX_SAFE_INTEGER, offsetMs }];
}
