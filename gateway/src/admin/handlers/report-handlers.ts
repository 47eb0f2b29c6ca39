import type { QueryOf } from "@sluice/contract";
import { bounds, columnsOf, invalidRequest, withoutUndefined } from "#core/index.ts";
import type { UsageFilter } from "#ports/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { checkPerson, visiblePerson } from "./callers.ts";
import { type Handlers, pageSize } from "./calls.ts";

/** Longest period of a chart in minutes. */
const usageMinutesMaxMs = 6 * 3_600_000;

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Longest period with hours as the default step. */
const hoursMaxMs = 4 * dayMs;
/** The smallest step that gives few enough points. All divide an hour. */
const minuteSteps = [60_000, 120_000, 300_000] as const;
const minutesPointsMax = 90;

/** Calls for usage and the audit log. */
export function reportHandlers({ reports, clock }: ConsoleDependencies) {
  return {
    "usage.series": async (call) => {
      const { query, workspace } = call;
      checkPerson(call, query.person);
      const steps = stepsOf(query);
      const reading = await reports.usage({
        workspaceId: workspace?.id ?? null,
        from: steps.from,
        to: untilNow(steps, clock.now()),
        stepMs: steps.stepMs,
        by: query.by ?? "none",
        ...entriesOf(query),
        visiblePerson: visiblePerson(call) ?? undefined,
      });
      const { from, to, stepMs, at } = reading.stepMs === steps.stepMs ? steps : stepsOf({ ...query, step: "hour" });
      return {
        from,
        to,
        step_ms: stepMs,
        totals: reading.totals,
        previous: reading.previous,
        at,
        series: reading.lines.map((line) => {
          const figures = new Map(line.points.map((point) => [point.at, point.figures]));
          return { ...line, points: at.map((time) => figures.get(time) ?? null) };
        }),
      };
    },
    "usage.costs": async ({ query, workspace }) => {
      checkTime(query);
      return { data: await reports.costs({ workspaceId: workspace?.id ?? null, ...query }) };
    },
    "usage.people": async ({ query, workspace }) => {
      const { from, to, search, sort = "-cost_usd", cursor = null, limit = pageSize } = query;
      checkTime({ from, to });
      const filter = { workspaceId: workspace?.id ?? null, from, to, sort, ...withoutUndefined({ search }) };
      const { data, totals, ...found } = await reports.peopleUsage(filter, cursor, limit);
      return {
        ...found,
        data: data.map(({ person, ...sums }) => ({ person, ...columnsOf(sums) })),
        totals: columnsOf(totals),
      };
    },
    "audit.list": async ({ query: { cursor, limit, ...filter }, workspace }) =>
      await reports.audit(
        { workspaceId: workspace?.id ?? null, ...withoutUndefined(filter) },
        cursor ?? null,
        limit ?? pageSize,
      ),
  } satisfies Partial<Handlers>;
}

function entriesOf({
  model,
  provider,
  key,
  group,
  person,
}: QueryOf<"usage.series">): Pick<UsageFilter, "model" | "provider" | "keyId" | "groupId" | "personId"> {
  return withoutUndefined({ model, provider, keyId: key, groupId: group, personId: person });
}

function checkTime({ from, to }: { readonly from: number; readonly to: number }): void {
  if (to <= from) throw invalidRequest("to", "`to` must be later than `from`.");
}

type Steps = ReturnType<typeof stepsOf>;

/** Start of each step. The period is widened to whole steps. */
function stepsOf({ from, to, step }: Pick<QueryOf<"usage.series">, "from" | "to" | "step">) {
  checkTime({ from, to });
  const stepMs = stepMsOf(to - from, step);
  const start = Math.floor(from / stepMs) * stepMs;
  const end = Math.ceil(to / stepMs) * stepMs;
  const count = (end - start) / stepMs;
  if (count > bounds.usageStepsMax) {
    throw invalidRequest(
      "from",
      `The period has ${count} steps, at most ${bounds.usageStepsMax} are allowed. Use step=day or a shorter period.`,
    );
  }
  return { from: start, to: end, stepMs, at: Array.from({ length: count }, (_, index) => start + index * stepMs) };
}

function stepMsOf(length: number, step: QueryOf<"usage.series">["step"]): number {
  const short = length <= usageMinutesMaxMs;
  if (step === "minute" && !short) {
    const hours = usageMinutesMaxMs / hourMs;
    throw invalidRequest("step", `Steps of minutes are limited to ${hours} hours. Use step=hour.`);
  }
  if (step === "minute" || (step === undefined && short)) {
    return minuteSteps.find((each) => length <= each * minutesPointsMax) ?? hourMs;
  }
  return step === "day" || (step === undefined && length > hoursMaxMs) ? dayMs : hourMs;
}

/** Length of the period so far, to compare it with the same length before. */
function untilNow({ from, to, stepMs }: Steps, now: number): number {
  const grainMs = Math.min(stepMs, hourMs);
  return Math.max(from + grainMs, Math.min(to, Math.ceil(now / grainMs) * grainMs));
}
