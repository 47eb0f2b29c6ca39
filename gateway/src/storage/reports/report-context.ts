import { sql } from "kysely";
import { bounds, Failure, type PriceVersion } from "#core/index.ts";
import type { Observer } from "#ports/index.ts";
import { type Connection, type Flavour, inSnapshot } from "../database/database.ts";
import { dayMs, type TimeSpan } from "../ledger/ledger-grains.ts";
import { hourMs } from "../ledger/ledger-rollup.ts";
import type { PastSums } from "./past-sums.ts";

export interface ReportContext {
  readonly connection: Connection;
  readonly flavour: Flavour;
  readonly price: (versionId: string) => Promise<PriceVersion | null>;
  readonly deadline: Deadline;
  /** Sums of past days that earlier questions of this connection have read. */
  readonly pastSums: PastSums;
}

/** The timeout of a question. A running statement cannot be stopped, so answers use short statements and check this in between. */
export class Deadline {
  readonly #endsAt: number;

  constructor(ms: number) {
    this.#endsAt = performance.now() + ms;
  }

  /** Throws `request_timeout`. */
  check(): void {
    if (performance.now() >= this.#endsAt) throw reportTimeout();
  }
}

export function reportTimeout(): Failure {
  return new Failure(
    "request_timeout",
    `Report timed out after ${bounds.reportMs / 1_000} seconds. Request a shorter time range or less data.`,
  );
}

export function tooManyReports(): Failure {
  const message = "Too many reports are running. Try again in a moment.";
  return new Failure("rate_limit_exceeded", message, { retryAfterMs: bounds.reportMs });
}

export function shuttingDown(): Failure {
  return new Failure("draining", "The gateway is shutting down.");
}

export function unreadableReport(observer: Pick<Observer, "log">, report: string, error: string): Failure {
  observer.log("error", "failed to read a report", { report, error });
  return new Failure("internal_error", "Cannot read this from the database.");
}

/** Only the name and code: the message of a database error may contain SQL. */
export function errorKind(thrown: unknown): string {
  if (!(thrown instanceof Error)) return typeof thrown;
  return "code" in thrown && typeof thrown.code === "string" ? `${thrown.name} ${thrown.code}` : thrown.name;
}

/**
 * Reads in one snapshot, so that sums of hours and days are consistent. `manyGroups`: raises PostgreSQL's work memory, because tens of
 * thousands of groups would otherwise be sorted on disk. `byIndex`: an index has every column that is read; PostgreSQL's default costs,
 * which are for magnetic disks, would make it read the whole table instead.
 */
export async function inOneSnapshot<Answer>(
  { connection, ...context }: ReportContext,
  read: (context: ReportContext) => Promise<Answer>,
  { manyGroups = false, byIndex = false }: { readonly manyGroups?: boolean; readonly byIndex?: boolean } = {},
): Promise<Answer> {
  return await inSnapshot({ reading: connection }, async (snapshot) => {
    if (context.flavour.name === "postgres") {
      if (manyGroups) await sql`set local work_mem = ${sql.lit(`${bounds.reportWorkMemoryMb}MB`)}`.execute(snapshot);
      if (byIndex) await sql`set local random_page_cost = 1.1`.execute(snapshot);
    }
    return await read({ ...context, connection: snapshot });
  });
}

/** The whole hours that cover a time, limited to the days that have rollups. */
export async function hoursWithData({ connection }: ReportContext, { from, to }: TimeSpan): Promise<TimeSpan> {
  const { first, last } = await connection
    .selectFrom("usage_rollups")
    .select((eb) => [
      eb
        .selectFrom("usage_rollups")
        .select((e) => e.fn.min<number | null>("hour").as("hour"))
        .as("first"),
      eb.fn.max<number | null>("hour").as("last"),
    ])
    .executeTakeFirstOrThrow();
  if (first === null || last === null) return { from: 0, to: 0 };
  return {
    from: Math.max(Math.floor(from / hourMs) * hourMs, Math.floor(first / dayMs) * dayMs),
    to: Math.min(Math.ceil(to / hourMs) * hourMs, Math.floor(last / dayMs) * dayMs + dayMs),
  };
}

/**
 * How much of a time range the first statement reads. PostgreSQL reads all at once: it enforces the timeout itself, and each further
 * statement costs a plan.
 */
export function firstSliceMs({ flavour }: Pick<ReportContext, "flavour">, ms: number): number {
  return flavour.name === "postgres" ? Number.POSITIVE_INFINITY : ms;
}

/** Reads a time in slices, one statement each. Slices grow while statements are fast. */
export async function timeSlices(
  span: TimeSpan,
  firstMs: number,
  deadline: Deadline,
  read: (span: TimeSpan) => Promise<void>,
): Promise<void> {
  let lengthMs = firstMs;
  for (let from = span.from; from < span.to; ) {
    deadline.check();
    // Days are not cut, so that their sums can be used.
    const end = lengthMs < dayMs ? from + lengthMs : Math.ceil((from + lengthMs) / dayMs) * dayMs;
    const to = Math.min(end, span.to);
    const startedAt = performance.now();
    await read({ from, to });
    if (performance.now() - startedAt < shortMs) lengthMs *= 2;
    from = to;
  }
}

const shortMs = 50;

/** Merges the rows of all slices: rows with equal `names` are added up. */
export async function sumsOverTime<Row extends object>(
  { deadline }: ReportContext,
  { from, to, firstMs }: TimeSpan & { readonly firstMs: number },
  { names, sums }: Record<"names" | "sums", readonly (keyof NoInfer<Row>)[]>,
  read: (slice: TimeSpan) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const found = new Map<string, Row>();
  await timeSlices({ from, to }, firstMs, deadline, async (slice) => {
    for (const row of await read(slice)) {
      const name = names.map((column) => row[column]).join("\n");
      const sum = found.get(name) as Record<keyof Row, number> | undefined;
      if (sum === undefined) found.set(name, row);
      else for (const column of sums) sum[column] += row[column] as number;
    }
  });
  return [...found.values()];
}
