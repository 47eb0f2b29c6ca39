import type { QueryOf, UsageFigures } from "@sluice/contract";
import { bounds, Failure } from "#core/index.ts";
import type { Clock, ReportStore, SessionUsage, UsageLine, UsageSums } from "#ports/index.ts";
import { type Handlers, pageSize } from "./handler.ts";
import { checkPerson, seenOnly } from "./seen-people.ts";

/** The longest time of a chart by minutes. */
const usageMinutesMaxMs = 6 * 3_600_000;

export interface UsageHandlerDependencies {
  readonly reports: Pick<ReportStore, "usage" | "peopleUsage" | "sessions" | "costs">;
  readonly clock: Pick<Clock, "now">;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Up to this much time an hour is the step nobody had to ask for. */
const hoursMaxMs = 4 * dayMs;
/** The first of these that needs no more points is taken. They are parts of an hour, so every hour begins with a step. */
const minuteSteps = [60_000, 120_000, 300_000] as const;
const minutesPointsMax = 90;

/** The calls about usage. */
export function usageHandlers(
  dependencies: UsageHandlerDependencies,
): Handlers<"usage.series" | "usage.people" | "usage.sessions" | "usage.costs"> {
  return {
    "usage.series": async (call) => {
      const { query, workspace } = call;
      checkPerson(call, query.person);
      const asked = stepsOf(query);
      const reading = await dependencies.reports.usage({
        workspaceId: workspace?.id ?? null,
        from: asked.from,
        to: soFar(asked, dependencies.clock.now()),
        stepMs: asked.stepMs,
        by: query.by ?? "none",
        ...(query.model === undefined ? {} : { model: query.model }),
        ...(query.provider === undefined ? {} : { provider: query.provider }),
        ...(query.key === undefined ? {} : { keyId: query.key }),
        ...(query.group === undefined ? {} : { groupId: query.group }),
        ...(query.person === undefined ? {} : { personId: query.person }),
        ...seenOnly(call),
      });
      const { from, to, stepMs, at } = reading.stepMs === asked.stepMs ? asked : stepsOf({ ...query, step: "hour" });
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
    "usage.costs": async ({ query, workspace }) => {
      checkTime(query);
      const data = await dependencies.reports.costs({ workspaceId: workspace?.id ?? null, ...query });
      return { data: [...data] };
    },
    "usage.sessions": async ({ query, workspace }) => {
      const { from, to, key } = query;
      checkTime({ from, to });
      const filter = { workspaceId: workspace?.id ?? null, from, to, ...(key === undefined ? {} : { keyId: key }) };
      const { data, truncated } = await dependencies.reports.sessions(filter);
      return { data: data.map(sessionOf), truncated };
    },
    "usage.people": async ({ query, workspace }) => {
      const { from, to, search, sort = "-cost_usd", cursor = null, limit = pageSize } = query;
      checkTime({ from, to });
      const filter = {
        workspaceId: workspace?.id ?? null,
        from,
        to,
        sort,
        ...(search === undefined ? {} : { search }),
      };
      const { data, totals, ...found } = await dependencies.reports.peopleUsage(filter, cursor, limit);
      return {
        ...found,
        data: data.map(({ person, ...sums }) => ({ person, ...sumsOf(sums) })),
        totals: sumsOf(totals),
      };
    },
  };
}

function sessionOf({ session, lastAt, requests, inputTokens, cachedTokens, outputTokens, costUsd }: SessionUsage) {
  return {
    session,
    last_at: lastAt,
    requests,
    input_tokens: inputTokens,
    cached_tokens: cachedTokens,
    cache_read_share: inputTokens === 0 ? null : cachedTokens / inputTokens,
    output_tokens: outputTokens,
    cost_usd: costUsd,
  };
}

function sumsOf({ requests, failedRequests, inputTokens, outputTokens, costUsd }: UsageSums) {
  return {
    requests,
    failed_requests: failedRequests,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cost_usd: costUsd,
  };
}

function checkTime({ from, to }: { readonly from: number; readonly to: number }): void {
  if (to <= from) throw new Failure("invalid_request", "`to` must be later than `from`.", { param: "to" });
}

type Steps = ReturnType<typeof stepsOf>;

/** Where the steps begin. What is asked is widened to whole steps. */
function stepsOf({ from, to, step }: Pick<QueryOf<"usage.series">, "from" | "to" | "step">) {
  checkTime({ from, to });
  const stepMs = stepMsOf(to - from, step);
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

function stepMsOf(length: number, step: QueryOf<"usage.series">["step"]): number {
  const short = length <= usageMinutesMaxMs;
  if (step === "minute" && !short) {
    const hours = usageMinutesMaxMs / hourMs;
    throw new Failure("invalid_request", `Minutes are given of at most ${hours} hours. Ask for hours.`, {
      param: "step",
    });
  }
  if (step === "minute" || (step === undefined && short)) {
    return minuteSteps.find((each) => length <= each * minutesPointsMax) ?? hourMs;
  }
  return step === "day" || (step === undefined && length > hoursMaxMs) ? dayMs : hourMs;
}

/** Of a time that still goes on, what has passed: the time before it is then as long, and can be compared. */
function soFar({ from, to, stepMs }: Steps, now: number): number {
  const grainMs = Math.min(stepMs, hourMs);
  return Math.max(from + grainMs, Math.min(to, Math.ceil(now / grainMs) * grainMs));
}

function pointsAt(line: UsageLine, at: readonly number[]): (UsageFigures | null)[] {
  const figures = new Map(line.points.map((point) => [point.at, point.figures]));
  return at.map((time) => figures.get(time) ?? null);
}
