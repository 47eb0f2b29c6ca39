import type { BodyOf, ReportRun, ScheduledReport } from "@sluice/contract";
import { meets, storedRemark } from "@sluice/contract/words";
import { channelsOf, isReportChannel, lastDue, type ReportSchedule, type StoredReport } from "#alerts/index.ts";
import { Failure, invalidRequest, isTimeZone, orNotFound, withoutUndefined } from "#core/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { checkView, readReport } from "../scheduled-reports/read-report.ts";
import { mailRateLimit } from "../throttle.ts";
import type { ConsoleCall, Handlers } from "./calls.ts";

type ReportCall = Pick<ConsoleCall<"scheduledReports.create">, "actor" | "held" | "workspace">;

/** Usage views that are sent to alert channels on a schedule. */
export function scheduledReportHandlers(dependencies: ConsoleDependencies) {
  const { scheduledReports, reportRuns, alertSettings, configSnapshot, people, clock } = dependencies;
  const sendings = mailRateLimit("report-now", dependencies.openTries);

  const ownerOf = ({ actor, held }: ReportCall) => ({ ownerId: actor.userId, held: heldOf(held) });
  /** Users see their own reports; admins of the workspace see all. */
  const visible = async ({ actor, held, workspace }: ReportCall, id: string): Promise<StoredReport> => {
    const report = await scheduledReports.find(id);
    const isHere = report !== null && report.workspaceId === (workspace?.id ?? null);
    return orNotFound(
      isHere && (report.ownerId === actor.userId || meets(held, "admin")) ? report : null,
      "scheduled report",
    );
  };
  const viewsOf = async (reports: readonly StoredReport[]): Promise<readonly ScheduledReport[]> => {
    const last = await reportRuns.last(reports.map(({ id }) => id));
    const owners = new Map<string, ScheduledReport["owner"]>();
    for (const { ownerId } of reports) {
      if (owners.has(ownerId)) continue;
      const user = await people.user(ownerId);
      owners.set(ownerId, { id: ownerId, email: user?.email ?? "", name: user?.name ?? "" });
    }
    return reports.map(({ workspaceId, ownerId, held: _, nextAt, createdAt, channels, ...report }) => {
      const run = last.get(report.id);
      const slug = workspaceId === null ? "" : (configSnapshot().workspaces.get(workspaceId)?.slug ?? workspaceId);
      return {
        ...report,
        channels: [...channels],
        workspace: workspaceId === null ? null : { id: workspaceId, slug },
        owner: owners.get(ownerId) ?? { id: ownerId, email: "", name: "" },
        fault: storedRemark("alert", report.problem),
        next_at: nextAt,
        last: run === undefined ? null : { at: run.at, ok: isOk(run) },
        created_at: createdAt,
      };
    });
  };
  const viewOf = async (report: StoredReport) => orNotFound((await viewsOf([report]))[0] ?? null, "scheduled report");
  const check = async (call: ReportCall, schedule: ReportSchedule): Promise<void> => {
    if (!isTimeZone(schedule.time_zone)) {
      throw invalidRequest("time_zone", `Unknown time zone ${JSON.stringify(schedule.time_zone)}.`);
    }
    checkDay(schedule);
    checkView(call, schedule, clock.now());
    const own = (await alertSettings.channels()).filter((each) => isReportChannel(each, call.workspace?.id ?? null));
    if (schedule.channels.some((id) => !own.some((channel) => channel.id === id))) {
      throw invalidRequest("channels", "A channel does not exist here, or cannot receive reports.");
    }
  };
  return {
    "scheduledReports.list": async ({ actor, held, workspace }) => {
      const reports = await scheduledReports.list(workspace?.id ?? null, meets(held, "admin") ? null : actor.userId);
      return { data: await viewsOf(reports), total: reports.length };
    },
    "scheduledReports.create": async (call) => {
      await check(call, call.body);
      const place = call.workspace?.id ?? null;
      return await viewOf(await scheduledReports.create(place, ownerOf(call), call.body, call.auditSource));
    },
    "scheduledReports.update": async (call) => {
      const report = await visible(call, call.params.report);
      const changes: Partial<BodyOf<"scheduledReports.create">> = withoutUndefined(call.body);
      await check(call, { ...report, ...changes });
      return await viewOf(await scheduledReports.update(report.id, ownerOf(call), changes, call.auditSource));
    },
    "scheduledReports.remove": async (call) => {
      const report = await visible(call, call.params.report);
      await scheduledReports.remove(report.id, call.auditSource);
    },
    "scheduledReports.send": async (call) => {
      const report = await visible(call, call.params.report);
      const channels = channelsOf(report, await alertSettings.channels());
      if (channels.length === 0) throw invalidRequest("channels", "The report has no enabled channel.");
      await sendings.take(call.workspace?.id ?? null);
      const now = clock.now();
      const dueAt = lastDue(report, now);
      const outcome = await readReport(dependencies, report, dueAt);
      // Only the schedule stops the report.
      const deliveries = "stop" in outcome ? [] : channels.map((channel) => ({ channel, dueAt: now, quiet: false }));
      const run = "stop" in outcome ? { problem: outcome.stop } : outcome;
      return orNotFound(await reportRuns.addManual(report, { dueAt, outcome: run, deliveries }), "scheduled report");
    },
    "scheduledReports.runs": async (call) => {
      const report = await visible(call, call.params.report);
      return { data: await reportRuns.list(report.id) };
    },
  } satisfies Partial<Handlers>;
}

function heldOf(held: ReportCall["held"]): StoredReport["held"] {
  if (held === "public" || held === "signed-in")
    throw new Failure("forbidden", "This needs a member of the workspace.");
  return held;
}

function checkDay({ every, day }: ReportSchedule): void {
  if (every === "day" ? day === null : day !== null && (every === "month" || day <= 7)) return;
  const needed = { day: "null", week: "1 (Monday) to 7 (Sunday)", month: "1 to 31" }[every];
  throw invalidRequest("day", `\`day\` must be ${needed} for a report of every ${every}.`);
}

function isOk({ problem, deliveries }: ReportRun): boolean {
  return (
    problem === null &&
    deliveries.every(({ sent_at, next_at, tries }) => sent_at !== null || (next_at !== null && tries === 0))
  );
}
