import { bounds } from "#core/index.ts";
import type { Clock, Observer, ReportStore } from "#ports/index.ts";
import type { Database } from "../database/database.ts";
import { type DatabasePlace, openPlace } from "../database/database-place.ts";
import { AnswerCache } from "./answer-cache.ts";
import type { ReportAnswer, ReportArgs, ReportKind, ReportSource } from "./report-answers.ts";
import type { RecentKind } from "./report-recent.ts";
import { type ReportThreadOptions, ReportThreads } from "./report-threads.ts";

interface ReportsOptions {
  /** Migrated. */
  readonly place: DatabasePlace;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
  /** The open database. Absent: threads answer everything. */
  readonly database?: Database;
}

/** Opens reports on the database of an installation, over separate connections, with a cache of answers. */
export async function openReports(options: ReportsOptions) {
  return withAnswerCache(await openSource(options), options.clock);
}

export function withAnswerCache(source: ReportSource, clock: Clock) {
  const cache = new AnswerCache((kind, args) => source.ask(kind, args), clock);
  // A spread would omit its methods, which are on the prototype.
  const cached: ReportSource = {
    ask: cache.ask,
    sizeBytes: () => source.sizeBytes(),
    backup: (...args) => source.backup(...args),
    close: () => source.close(),
  };
  /** `forget`: something that answers refer to has changed. */
  return { ...reportStoreOf(cached), forget: () => cache.clear() };
}

async function openSource({ place, clock, observer, database: own }: ReportsOptions): Promise<ReportSource> {
  if (place.kind === "sqlite") {
    const threads = new ReportThreads({ databasePath: place.path, clock, observer });
    return own === undefined ? threads : withoutThread(threads, own);
  }
  const { postgresReports } = await import("./postgres-reports.ts");
  const database = await openPlace(place, { isChecked: true, statementMs: bounds.reportMs });
  const reports = postgresReports({ database, observer });
  return {
    ...reports,
    async close() {
      await reports.close();
      await database.close();
    },
  };
}

const recentKinds: ReadonlySet<ReportKind> = new Set<RecentKind>([
  "alertTraffic",
  "alertProviders",
  "alertChecks",
  "alertShadowMarks",
]);

/** Alerts ask every 15 s. A thread that answers them never ends, and takes 15 MB. */
function withoutThread(threads: ReportThreads, database: Database): ReportSource {
  return {
    async ask<Kind extends ReportKind>(kind: Kind, args: ReportArgs<Kind>): Promise<ReportAnswer<Kind>> {
      if (!recentKinds.has(kind)) return await threads.ask(kind, args);
      const { answerRecent } = await import("./report-recent.ts");
      const answer = await answerRecent(database, kind as RecentKind, args).catch(() => null);
      return answer === null ? await threads.ask(kind, args) : (answer as ReportAnswer<Kind>);
    },
    sizeBytes: () => threads.sizeBytes(),
    backup: () => threads.backup(),
    close: () => threads.close(),
  };
}

/** Reports on an SQLite database, without a cache. */
export function createReportStore(options: ReportThreadOptions): ReportStore {
  return reportStoreOf(new ReportThreads(options));
}

export function reportStoreOf(source: ReportSource): ReportStore {
  const question =
    <Kind extends ReportKind>(kind: Kind) =>
    (...args: ReportArgs<Kind>): Promise<ReportAnswer<Kind>> =>
      source.ask(kind, args);
  const entryCount = question("entryCount");
  return {
    requests: question("requests"),
    sortedRequests: question("sortedRequests"),
    requestsWithText: question("requestsWithText"),
    requestTotals: question("requestTotals"),
    attempts: question("attempts"),
    requestChecks: question("requestChecks"),
    guardrailChecks: question("guardrailChecks"),
    guardrailFindings: question("guardrailFindings"),
    usage: question("usage"),
    usageRows: question("usageRows"),
    usageTags: question("usageTags"),
    chargeback: question("chargeback"),
    sessions: question("sessions"),
    sessionAgents: question("sessionAgents"),
    session: question("session"),
    sessionRequests: question("sessionRequests"),
    sessionTools: question("sessionTools"),
    requestSession: question("requestSession"),
    costs: question("costs"),
    keyList: question("keyList"),
    keys: question("keys"),
    audit: question("audit"),
    listCount: question("listCount"),
    personSpend: question("personSpend"),
    modelUsage: question("modelUsage"),
    deploymentUse: question("deploymentUse"),
    dailySpend: question("dailySpend"),
    personDailySpend: question("personDailySpend"),
    spending: question("spending"),
    policyValues: question("policyValues"),
    keyUsage: question("keyUsage"),
    alertTraffic: question("alertTraffic"),
    alertProviders: question("alertProviders"),
    alertSpend: question("alertSpend"),
    alertChecks: question("alertChecks"),
    alertShadowMarks: question("alertShadowMarks"),
    billedUsage: question("billedUsage"),
    facts: async () => ({ entries: await entryCount(), sizeBytes: await source.sizeBytes() }),
    backup: () => source.backup(),
    close: () => source.close(),
  };
}
