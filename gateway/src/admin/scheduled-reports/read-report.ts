import { chargebackQuery, usageCsvQuery } from "@sluice/contract/console/usage";
import { meets, usageDimensions } from "@sluice/contract/words";
import {
  intervalBefore,
  type ReadReport,
  type ReportContent,
  type ReportSchedule,
  type StoredReport,
} from "#alerts/index.ts";
import { bounds, Failure, invalidRequest, nanoToUsd } from "#core/index.ts";
import type { ReportStore, UsageRowsFilter } from "#ports/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { roleHeldBy } from "../handlers/callers.ts";
import { readAs } from "../handlers/calls.ts";
import { chargebackOf, rowsFilterOf, type UsageViewer } from "../handlers/usage-handlers.ts";
import { chargebackCsvLines, usageCsvLines } from "../streaming/usage-csv.ts";
import { type ComparedPeriod, viewPeriod } from "./view-period.ts";

type Schedule = Omit<ReportSchedule, "name" | "channels" | "enabled">;
type Reports = Pick<ReportStore, "usageRows" | "chargeback">;

const rowsMax = 10;
const monthsUsual = 3;
const monthsMax = 12;

/** Reads a report with the rights that its owner has now, and never more than they had when they last changed it. */
export async function readReport(
  { people, reports, configSnapshot }: Pick<ConsoleDependencies, "people" | "reports" | "configSnapshot">,
  report: StoredReport,
  dueAt: number,
): ReturnType<ReadReport> {
  const rights = await people.rightsOf(report.ownerId);
  if (rights === null) return { stop: "report_owner_left" };
  const workspace = report.workspaceId === null ? null : (configSnapshot().workspaces.get(report.workspaceId) ?? null);
  const actor = { kind: "user", userId: report.ownerId, name: "", fresh: false, ...rights } as const;
  const heldNow = roleHeldBy(actor, workspace);
  const held = meets(heldNow, report.held) ? report.held : heldNow;
  const isOne = report.workspaceId !== null;
  if ((isOne && workspace === null) || !meets(held, isOne ? "viewer" : "administrator")) {
    return { stop: "report_right_lost" };
  }
  try {
    return await readView(reports, { actor, held, workspace }, report, dueAt, workspace?.slug ?? null);
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown;
    if (thrown.code === "forbidden") return { stop: "report_right_lost" };
    if (thrown.code === "invalid_request" || thrown.code === "missing_required_parameter") {
      return { stop: "report_unreadable" };
    }
    throw thrown;
  }
}

/** Throws `invalid_request` or `forbidden` for a view that the viewer could not see. */
export function checkView(viewer: UsageViewer, schedule: Schedule, now: number): void {
  planOf(viewer, schedule, now);
}

async function readView(
  reports: Reports,
  viewer: UsageViewer,
  report: StoredReport,
  dueAt: number,
  slug: string | null,
): ReturnType<ReadReport> {
  const plan = planOf(viewer, report, dueAt);
  const reading =
    plan.kind === "usage" ? await readUsage(reports, plan, report) : await readChargeback(reports, plan, report);
  const page = `/usage?${new URLSearchParams({ workspace: slug ?? "-", ...plan.link })}`;
  return { content: { time_zone: report.time_zone, page, ...reading.content }, csv: reading.csv };
}

type Plan = UsagePlan | ChargebackPlan;

interface UsagePlan {
  readonly kind: "usage";
  readonly filter: UsageRowsFilter;
  /** The view shows totals only. */
  readonly isTotal: boolean;
  readonly period: ComparedPeriod;
  readonly link: Readonly<Record<string, string>>;
}

interface ChargebackPlan extends ReturnType<typeof chargebackOf> {
  readonly kind: "chargeback";
  readonly link: Readonly<Record<string, string>>;
}

/** The query of a view, as the usage page makes it from the same URL parameters. */
function planOf(viewer: UsageViewer, { state, period: kind, ...times }: Schedule, dueAt: number): Plan {
  const view = Object.fromEntries(new URLSearchParams(state));
  const { tab = "explore", range: _, from: _from, to: _to, workspace: _workspace, ...kept } = view;
  if (tab !== "explore" && tab !== "chargeback") {
    throw invalidRequest("state", "Only the views Explore and Chargeback can be sent.");
  }
  const period = kind === "interval" ? intervalBefore(times, dueAt) : viewPeriod(view, dueAt, times.time_zone);
  if (tab === "chargeback") return chargebackPlan(viewer, view, period.to, times.time_zone);
  const admin = meets(viewer.held, "admin");
  const requested = usageDimensions.find((each) => each === view["by"]) ?? "model";
  const isOffered = (requested !== "workspace" || viewer.workspace === null) && (requested !== "person" || admin);
  const by = isOffered ? requested : "model";
  const isTotal = by === "none" || (by === "tag" && !view["tag"]);
  const { order, search, tag, tag_value, model, provider, key, group, person, user_agent, endpoint } = view;
  const query = readAs(usageCsvQuery, {
    ...present({ model, provider, key, group, person, user_agent, endpoint }),
    ...(tag ? present({ tag, tag_value }) : {}),
    ...present({ sort: order, search }),
    ...{ by: isTotal ? "model" : by, from: period.from, to: period.to, compare: "true" },
    ...{ compare_from: period.compared.from, compare_to: period.compared.to },
  });
  const link = { ...kept, from: String(period.from), to: String(period.to) };
  return { kind: "usage", filter: rowsFilterOf(viewer, query), isTotal, period, link };
}

/** As many months as the view has, and at least two for the comparison. */
function chargebackPlan(
  { workspace }: UsageViewer,
  view: Readonly<Record<string, string>>,
  until: number,
  timeZone: string,
): ChargebackPlan {
  const zone = view["tz"] === "utc" ? "UTC" : timeZone;
  const { from_month: first, to_month: end, team, tag, tag_value } = view;
  const [year = 0, month = 0] = new Intl.DateTimeFormat("en-CA", { timeZone: zone, year: "numeric", month: "2-digit" })
    .format(until - 1)
    .split("-")
    .map(Number);
  const count = Math.min(monthsMax, Math.max(2, first && end ? monthsBetween(first, end) + 1 : monthsUsual));
  const named = (back: number) => new Date(Date.UTC(year, month - 1 - back)).toISOString().slice(0, 7);
  const by = team ?? (workspace === null ? "workspace" : "group");
  const query = readAs(chargebackQuery, {
    ...{ by, from: named(count - 1), to: named(0), time_zone: zone },
    // Grouped by a tag, the report has all of its values.
    ...(by === "tag" ? present({ tag }) : tag && tag_value ? { tag, tag_value } : {}),
  });
  const { tz } = view;
  const link = present({ tab: "chargeback", team: by, tag, tag_value, tz, from_month: query.from, to_month: query.to });
  return { kind: "chargeback", ...chargebackOf(query, workspace?.id ?? null), link };
}

type Read = Omit<ReportContent, "time_zone" | "page">;

async function readUsage(
  reports: Reports,
  { filter, isTotal, period }: UsagePlan,
  report: Pick<StoredReport, "attach_csv">,
): Promise<{ readonly content: Read; readonly csv: string | null }> {
  const page = await reports.usageRows(filter, null, rowsMax);
  const csv = report.attach_csv && !isTotal ? await boundedText(await usageCsvLines(reports, filter)) : null;
  const figures = (of: typeof page.previous) => ({ cost_usd: of?.cost_usd ?? 0, requests: of?.requests ?? 0 });
  const day = (at: number) => new Date(at).toISOString().slice(0, 10);
  const content = {
    ...{ period: { from: period.from, to: period.to }, compared: period.compared },
    ...{ totals: figures(page.totals), previous: figures(page.previous) },
    rows: isTotal
      ? []
      : page.data.map(({ label, figures: { cost_usd }, previous }) => {
          return { label, cost_usd, previous_cost_usd: previous?.cost_usd ?? 0 };
        }),
    rows_total: isTotal ? 0 : (page.count ?? page.data.length),
    file: csv === null ? null : `usage-by-${filter.by}-${day(period.from)}-to-${day(period.to - 1)}`,
  };
  return { content, csv };
}

async function readChargeback(
  reports: Reports,
  { filter, months }: ChargebackPlan,
  report: Pick<StoredReport, "attach_csv">,
): Promise<{ readonly content: Read; readonly csv: string | null }> {
  const answer = await reports.chargeback(filter);
  const [before, last] = months.slice(-2);
  if (before === undefined || last === undefined) throw new Error("a chargeback report has two months");
  const cost = (nano: readonly number[], back: number) => nanoToUsd(nano.at(-1 - back) ?? 0);
  const rows = answer.data.filter(({ costNanoUsd }) => costNanoUsd.slice(-2).some((each) => each !== 0));
  const ordered = rows.toSorted((one, other) => (other.costNanoUsd.at(-1) ?? 0) - (one.costNanoUsd.at(-1) ?? 0));
  const names = months.map(({ month }) => month);
  const csv = report.attach_csv ? await boundedText(chargebackCsvLines(filter.by, names, answer)) : null;
  const content = {
    ...{ period: { from: last.from, to: last.to }, compared: { from: before.from, to: before.to } },
    totals: { cost_usd: cost(answer.totals, 0), requests: null },
    previous: { cost_usd: cost(answer.totals, 1), requests: null },
    rows: ordered.slice(0, rowsMax).map(({ label, costNanoUsd }) => {
      return { label, cost_usd: cost(costNanoUsd, 0), previous_cost_usd: cost(costNanoUsd, 1) };
    }),
    rows_total: rows.length,
    file: csv === null ? null : `chargeback-by-${filter.by}-${names[0]}-to-${last.month}`,
  };
  return { content, csv };
}

/** null: too large. */
async function boundedText(lines: AsyncIterable<string> | Iterable<string>): Promise<string | null> {
  let text = "";
  let bytes = 0;
  for await (const line of lines) {
    text += line;
    bytes += Buffer.byteLength(line);
    if (bytes > bounds.reportFileBytesMax) return null;
  }
  return text;
}

function present(fields: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).filter((entry): entry is [string, string] => !!entry[1]));
}

function monthsBetween(from: string, to: string): number {
  const number = (text: string) => Number(text.slice(0, 4)) * 12 + Number(text.slice(5));
  return number(to) - number(from) || 0;
}
