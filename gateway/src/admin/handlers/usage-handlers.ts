import type { AnswerOf, QueryOf, UsageFigures, UsageMeasure } from "@sluice/contract";
import { type UsageSort, usageMeasures } from "@sluice/contract/words";
import {
  bounds,
  invalidRequest,
  isTimeZone,
  localDays,
  momentOf,
  nanoToUsd,
  openTimeZone,
  withoutUndefined,
  zoneOffsets,
} from "#core/index.ts";
import type { ChargebackFilter, UsageLine, UsageRowsFilter, UsageScope, ZoneOffset } from "#ports/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { checkPerson, type Viewer, visiblePerson } from "./callers.ts";
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
const chargebackMonthsMax = 12;

/** Calls for usage and cost. */
export function usageHandlers({ reports, clock }: ConsoleDependencies) {
  return {
    "usage.series": async (call) => {
      const { query, workspace } = call;
      const steps = stepsOf(query);
      const measures = measuresOf(query.measures);
      const reading = await reports.usage({
        ...usageScopeOf(call, query),
        workspaceId: workspace?.id ?? null,
        from: steps.from,
        to: untilNow(steps, clock.now()),
        stepMs: steps.stepMs,
        by: query.by ?? "none",
        ...withoutUndefined({ compared: comparedOf(query), zone: steps.offsets }),
      });
      const shown = reading.stepMs === steps.stepMs ? steps : stepsOf({ ...query, step: "hour" });
      const { from, to, stepMs } = shown;
      const before = stepsOf({ ...query, ...reading.previousPeriod, step: undefined }, stepMs);
      return {
        from,
        to,
        step_ms: stepMs,
        totals: reading.totals,
        previous: reading.previous,
        previous_period: reading.previousPeriod,
        previous_points: pointsOf(reading.previousPoints, before.at, measures),
        at: shown.at.map(({ at }) => at),
        series: reading.lines.map(({ points, ...line }) => ({ ...line, points: pointsOf(points, shown.at, measures) })),
      };
    },
    "usage.rows": async (call) => {
      const filter = rowsFilterOf(call, call.query);
      const { cursor = null, limit = pageSize } = call.query;
      const { data, costNanoUsd: _, count, ...page } = await reports.usageRows(filter, cursor, limit);
      return {
        ...page,
        total: count,
        from: filter.from,
        to: filter.to,
        previous_period: filter.compared ?? beforeOf(filter),
        data: data.map(({ costNanoUsd: _cost, ...row }) => row),
      };
    },
    "usage.tags": async ({ query, workspace }) => {
      checkTime(query);
      return { data: await reports.usageTags({ workspaceId: workspace?.id ?? null, ...query }) };
    },
    "usage.chargeback": async ({ query, workspace }) => {
      const { months, filter } = chargebackOf(query, workspace?.id ?? null);
      const { data, totals } = await reports.chargeback(filter);
      const costs = (nano: readonly number[]) => ({
        cost_usd: nano.map(nanoToUsd),
        total_usd: nanoToUsd(nano.reduce((sum, cost) => sum + cost, 0)),
      });
      return {
        months,
        data: data.map(({ costNanoUsd, ...row }) => ({ ...row, ...costs(costNanoUsd) })),
        totals: costs(totals),
      };
    },
    "usage.costs": async ({ query, workspace }) => {
      checkTime(query);
      return { data: await reports.costs({ workspaceId: workspace?.id ?? null, ...query }) };
    },
  } satisfies Partial<Handlers>;
}

type ScopeQuery = QueryOf<"usage.series"> | QueryOf<"usage.rows">;

export interface UsageViewer extends Viewer {
  readonly workspace: { readonly id: string } | null;
}

/** The filters of a query, limited to what the viewer may see. `-` means calls without a value. */
function usageScopeOf(call: UsageViewer, query: ScopeQuery): Omit<UsageScope, "workspaceId" | "from" | "to"> {
  const { model, provider, key, group, person, user_agent, endpoint, tag, tag_value, by } = query;
  checkPerson(call, person);
  if (tag === undefined && (by === "tag" || tag_value !== undefined)) {
    throw invalidRequest("tag", "Name the tag.");
  }
  return withoutUndefined({
    ...{ model, provider: orNone(provider), keyId: key, groupId: group, personId: orNone(person) },
    ...{ userAgent: orNone(user_agent), endpoint, tag, tagValue: orNone(tag_value) },
    visiblePerson: visiblePerson(call) ?? undefined,
  });
}

function orNone(value: string | undefined): string | undefined {
  return value === "-" ? "" : value;
}

/** The filter of a list of usage rows. Times are whole hours. */
export function rowsFilterOf(
  call: UsageViewer,
  query: Omit<QueryOf<"usage.rows">, "cursor" | "limit">,
): UsageRowsFilter {
  checkTime(query);
  const filter = {
    ...usageScopeOf(call, query),
    workspaceId: call.workspace?.id ?? null,
    from: Math.floor(query.from / hourMs) * hourMs,
    to: Math.ceil(query.to / hourMs) * hourMs,
    by: query.by,
    sort: query.sort ?? ("-cost_usd" satisfies UsageSort),
    ...withoutUndefined({ search: query.search }),
  };
  return query.compare === "true" ? { ...filter, compared: comparedOf(query) ?? beforeOf(filter) } : filter;
}

interface Time {
  readonly from: number;
  readonly to: number;
}

function beforeOf({ from, to }: Time): Time {
  return { from: Math.max(0, from - (to - from)), to: from };
}

function comparedOf({ compare_from: from, compare_to: to }: ScopeQuery): Time | undefined {
  if (from === undefined || to === undefined) return undefined;
  if (to <= from) throw invalidRequest("compare_to", "`compare_to` must be later than `compare_from`.");
  return { from, to };
}

/** The months of a chargeback report, and its filter. Months begin and end with whole hours. */
export function chargebackOf(
  { by, tag, tag_value, from, to, time_zone }: QueryOf<"usage.chargeback">,
  workspaceId: string | null,
): { readonly months: AnswerOf<"usage.chargeback">["months"]; readonly filter: ChargebackFilter } {
  if (tag === undefined && (by === "tag" || tag_value !== undefined)) throw invalidRequest("tag", "Name the tag.");
  const zone = openTimeZone(zoneOf(time_zone) ?? "UTC");
  const [first, last] = [monthNumber(from), monthNumber(to)];
  if (last < first) throw invalidRequest("to", "`to` must not be before `from`.");
  if (last - first >= chargebackMonthsMax) {
    throw invalidRequest("to", `A report has at most ${chargebackMonthsMax} months.`);
  }
  const start = (month: number) =>
    Math.ceil(momentOf(zone, Date.UTC(Math.floor(month / 12), month % 12)) / hourMs) * hourMs;
  const months = Array.from({ length: last - first + 1 }, (_, place) => {
    const month = first + place;
    const name = new Date(Date.UTC(Math.floor(month / 12), month % 12)).toISOString().slice(0, 7);
    return { month: name, from: start(month), to: start(month + 1) };
  });
  return { months, filter: { workspaceId, by, months, ...withoutUndefined({ tag, tagValue: orNone(tag_value) }) } };
}

function monthNumber(text: string): number {
  const [year = "0", month = "1"] = text.split("-");
  return Number(year) * 12 + Number(month) - 1;
}

function zoneOf(name: string | undefined): string | undefined {
  if (name === undefined || name === "UTC") return undefined;
  if (!isTimeZone(name)) throw invalidRequest("time_zone", `Unknown time zone ${JSON.stringify(name)}.`);
  return name;
}

function measuresOf(text = "cost_usd"): readonly UsageMeasure[] {
  return text.split(",").map((name) => {
    const measure = usageMeasures.find((each) => each === name);
    if (measure === undefined) throw invalidRequest("measures", `Unknown measure ${JSON.stringify(name)}.`);
    return measure;
  });
}

/** The requested measures at each step; null where there are no calls. */
function pointsOf(
  points: UsageLine["points"],
  steps: Steps["at"],
  measures: readonly UsageMeasure[],
): Partial<Record<UsageMeasure, (number | null)[]>> {
  const figures = new Map<number, UsageFigures>(points.map((point) => [point.at, point.figures]));
  return Object.fromEntries(
    measures.map((measure) => [measure, steps.map(({ local }) => figures.get(local)?.[measure] ?? null)]),
  );
}

function checkTime({ from, to }: Time): void {
  if (to <= from) throw invalidRequest("to", "`to` must be later than `from`.");
}

interface Steps extends Time {
  readonly stepMs: number;
  /** Start of each step, and its local time in the zone as if it were UTC. */
  readonly at: readonly { readonly at: number; readonly local: number }[];
  /** For local days. */
  readonly offsets?: readonly ZoneOffset[];
}

/** The period is widened to whole steps. */
function stepsOf(
  {
    from,
    to,
    step,
    time_zone,
    compare_from: earliest = from - (to - from),
  }: Pick<QueryOf<"usage.series">, "from" | "to" | "step" | "time_zone" | "compare_from">,
  stepMs = stepMsOf(to - from, step),
): Steps {
  checkTime({ from, to });
  const name = stepMs === dayMs ? zoneOf(time_zone) : undefined;
  const count = Math.ceil(to / stepMs) - Math.floor(from / stepMs);
  if (count > bounds.usageStepsMax) {
    throw invalidRequest(
      "from",
      `The period has ${count} steps, at most ${bounds.usageStepsMax} are allowed. Use step=day or a shorter period.`,
    );
  }
  if (name !== undefined) {
    const zone = openTimeZone(name);
    const at = localDays(zone, from, to);
    const end = momentOf(zone, (at.at(-1)?.local ?? 0) + dayMs);
    const whole = (moment: number) => Math.ceil(moment / hourMs) * hourMs;
    const offsets = zoneOffsets(zone, Math.min(from, earliest) - 2 * dayMs, end);
    return { from: whole(at[0]?.at ?? from), to: whole(end), stepMs, at, offsets };
  }
  const start = Math.floor(from / stepMs) * stepMs;
  const at = Array.from({ length: count }, (_, index) => start + index * stepMs);
  return { from: start, to: start + count * stepMs, stepMs, at: at.map((moment) => ({ at: moment, local: moment })) };
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

/** End of the period so far, so that it is compared with a period of the same length. */
function untilNow({ from, to, stepMs }: Steps, now: number): number {
  const grainMs = Math.min(stepMs, hourMs);
  return Math.max(from + grainMs, Math.min(to, Math.ceil(now / grainMs) * grainMs));
}
