import type { RehearsalResult } from "@sluice/contract";
import type { Span } from "../../../components/calendar-ranges.ts";
import { dayMs } from "../../../components/chart-axis.ts";
import { usdOf } from "./money.ts";

const hourMs = 3_600_000;
/** Longer periods are drawn by day, in UTC. */
const hourlyDays = 8;

interface Steps {
  readonly stepMs: number;
  readonly at: readonly number[];
  readonly refused: readonly number[];
  /** USD. */
  readonly recorded: readonly number[];
  readonly rehearsed: readonly number[];
}

/** The hours of a result as steps of a chart, also those without calls. */
export function stepsOf(hours: RehearsalResult["hours"], { from, to }: Span): Steps {
  const stepMs = to - from <= hourlyDays * dayMs ? hourMs : dayMs;
  const first = Math.floor(from / stepMs) * stepMs;
  const at = Array.from({ length: Math.max(1, Math.ceil((to - first) / stepMs)) }, (_, step) => first + step * stepMs);
  const [refused, recorded, rehearsed] = [at.map(() => 0), at.map(() => 0), at.map(() => 0)];
  const add = (sums: number[], step: number, value: number) => {
    sums[step] = (sums[step] ?? 0) + value;
  };
  for (const hour of hours) {
    const step = Math.min(at.length - 1, Math.max(0, Math.floor((hour.at - first) / stepMs)));
    add(refused, step, hour.refused);
    add(recorded, step, usdOf(hour.recorded_nano_usd));
    add(rehearsed, step, usdOf(hour.rehearsed_nano_usd));
  }
  return { stepMs, at, refused, recorded, rehearsed };
}
