import { sql } from "kysely";
import { bounds, Failure, type PriceVersion } from "#core/index.ts";
import type { Observer } from "#ports/index.ts";
import { type Connection, type Flavour, inSnapshot } from "../database/database.ts";
import type { TimeSpan } from "../ledger/ledger-day-reading.ts";
import { dayMs } from "../ledger/ledger-days.ts";
import { hourMs } from "../ledger/ledger-rollup.ts";
import type { KeptSums } from "./kept-sums.ts";

/** What a question is answered from, and until when. */
export interface ReportContext {
  readonly connection: Connection;
  readonly flavour: Flavour;
  readonly price: (versionId: string) => Promise<PriceVersion | null>;
  readonly deadline: Deadline;
  /** What earlier questions of this connection found in days that are over. */
  readonly kept: KeptSums;
}

/**
 * The end of a question's time. A statement that runs cannot be stopped, so answers are put together from statements that
 * are short, and this is asked between them.
 */
export class Deadline {
  readonly #endsAt: number;

  constructor(ms: number) {
    this.#endsAt = performance.now() + ms;
  }

  /** Throws `request_timeout` when the time is over. */
  check(): void {
    if (performance.now() >= this.#endsAt) throw late();
  }
}

export function late(): Failure {
  return new Failure(
    "request_timeout",
    `This takes longer than ${bounds.reportMs / 1_000} seconds. Ask for a shorter time or for less at once.`,
  );
}

export function crowded(): Failure {
  const message = "Too much is asked of the console at once. Try again in a moment.";
  return new Failure("rate_limit_exceeded", message, { retryAfterMs: bounds.reportMs });
}

export function draining(): Failure {
  return new Failure("draining", "The gateway is shutting down.");
}

export function unreadable(observer: Pick<Observer, "log">, report: string, error: string): Failure {
  observer.log("error", "A report could not be read.", { report, error });
  return new Failure("internal_error", "This could not be read from the database.");
}

/** A database error may contain SQL, so only its name and code are logged. */
export function kindOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return typeof thrown;
  return "code" in thrown && typeof thrown.code === "string" ? `${thrown.name} ${thrown.code}` : thrown.name;
}

/**
 * Answers from one moment: which days are summed, their sums and those of hours belong together. `manyGroups`: tens of thousands of keys
 * or people are summed side by side; with what a PostgreSQL server allows by default they would go through its disk.
 */
export async function ofOneMoment<Answer>(
  { connection, ...context }: ReportContext,
  read: (context: ReportContext) => Promise<Answer>,
  { manyGroups = false }: { readonly manyGroups?: boolean } = {},
): Promise<Answer> {
  return await inSnapshot({ reading: connection }, async (snapshot) => {
    if (manyGroups && context.flavour.name === "postgres") {
      await sql`set local work_mem = ${sql.lit(`${bounds.reportWorkMemoryMb}MB`)}`.execute(snapshot);
    }
    return await read({ ...context, connection: snapshot });
  });
}

/** Whole hours that cover a time, cut down to the days that rollups can be of: a day is read by its own sums where all of it is asked for. */
export async function coveredHours({ connection }: ReportContext, { from, to }: TimeSpan): Promise<TimeSpan> {
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
 * How much of a time the first statement reads. PostgreSQL is asked for all at once: it ends a statement when the time is over, and
 * each one more costs a plan over every month.
 */
export function firstSliceMs({ flavour }: Pick<ReportContext, "flavour">, ms: number): number {
  return flavour.name === "postgres" ? Number.POSITIVE_INFINITY : ms;
}

/** Goes through a time in spans that are short enough for one statement each; those that take little grow longer. */
export async function timeSlices(
  span: TimeSpan,
  firstMs: number,
  deadline: Deadline,
  read: (span: TimeSpan) => Promise<void>,
): Promise<void> {
  let lengthMs = firstMs;
  for (let from = span.from; from < span.to; ) {
    deadline.check();
    // Whole days are read by their own sums, so none is cut in two.
    const end = lengthMs < dayMs ? from + lengthMs : Math.ceil((from + lengthMs) / dayMs) * dayMs;
    const to = Math.min(end, span.to);
    const startedAt = performance.now();
    await read({ from, to });
    if (performance.now() - startedAt < shortMs) lengthMs *= 2;
    from = to;
  }
}

const shortMs = 50;

/** Adds up what statements over slices of a time find: rows that agree in `names` are one. */
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
