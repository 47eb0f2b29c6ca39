import type { QueryOf, UsageFigures } from "@sluice/contract";
import { bounds, Failure } from "#core/index.ts";
import type { Clock, ReportStore, UsageLine } from "#ports/index.ts";
import type { Handlers } from "./handler.ts";

export interface UsageCallsHouse {
  readonly reports: Pick<ReportStore, "usage">;
  readonly clock: Pick<Clock, "now">;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Up to this much time an hour is the step nobody had to ask for. */
const hoursMaxMs = 4 * dayMs;

/** The calls about usage. */
export function usageCalls(house: UsageCallsHouse): Handlers<"usage.series"> {
  return {
    "usage.series": async ({ query, workspace }) => {
      const { from, to, stepMs, at } = stepsOf(query);
      const reading = await house.reports.usage({
        workspaceId: workspace?.id ?? null,
        from,
        to: soFar(from, to, house.clock.now()),
        stepMs,
        by: query.by ?? "none",
        ...(query.model === undefined ? {} : { model: query.model }),
        ...(query.provider === undefined ? {} : { provider: query.provider }),
        ...(query.key === undefined ? {} : { keyId: query.key }),
        ...(query.group === undefined ? {} : { groupId: query.group }),
      });
      return {
        from,
        to,
        step_ms: stepMs,
        totals: reading.totals,
        previous: reading.previous,
        at: [...at],
        series: reading.lines.map((line) => ({
          id: line.id,
          label: line.label,
          totals: line.totals,
          points: pointsAt(line, at),
        })),
      };
    },
  };
}

/** Where the steps begin. What is asked is widened to whole steps, since usage is kept by the hour. */
export function stepsOf({ from, to, step }: Pick<QueryOf<"usage.series">, "from" | "to" | "step">) {
  if (to <= from) throw new Failure("invalid_request", "`to` must be later than `from`.", { param: "to" });
  const stepMs = step === "day" || (step === undefined && to - from > hoursMaxMs) ? dayMs : hourMs;
  const start = Math.floor(from / stepMs) * stepMs;
  const end = Math.ceil(to / stepMs) * stepMs;
  const count = (end - start) / stepMs;
  if (count > bounds.usageStepsMax) {
    throw new Failure(
      "invalid_request",
      `That is ${count} steps; at most ${bounds.usageStepsMax} are given. Ask for days, or for less time.`,
      { param: "from" },
    );
  }
  return { from: start, to: end, stepMs, at: Array.from({ length: count }, (_, index) => start + index * stepMs) };
}

/** Of a time that still goes on, what has passed: the time before it is then as long, and can be compared. */
function soFar(from: number, to: number, now: number): number {
  return Math.max(from + hourMs, Math.min(to, Math.ceil(now / hourMs) * hourMs));
}

function pointsAt(line: UsageLine, at: readonly number[]): (UsageFigures | null)[] {
  const figures = new Map(line.points.map((point) => [point.at, point.figures]));
  return at.map((time) => figures.get(time) ?? null);
}
