import { type ExpressionBuilder, sql } from "kysely";
import type { Clock, ExplainStore } from "#ports/index.ts";
import type { Database } from "../database/database.ts";
import type { NewRow, Tables } from "../database/schema.ts";

/** Rows that are written together. */
export interface ExplainBatch {
  readonly explanations: readonly NewRow<"request_explanations">[];
  readonly captures: readonly NewRow<"request_captures">[];
}

/** What is too old: explanations that began before, captures that began before or have expired by now. Unix milliseconds. */
export interface ExplainAges {
  readonly explanationsBefore: number;
  readonly capturesBefore: number;
  readonly now: number;
}

/** All or nothing. What is told again of a request takes the place of what was told before. */
export async function keepExplained(database: Database, { explanations, captures }: ExplainBatch): Promise<void> {
  await database.kysely.transaction().execute(async (transaction) => {
    for (const row of explanations) {
      await transaction
        .insertInto("request_explanations")
        .values(row)
        .onConflict((conflict) => conflict.column("request_id").doUpdateSet({ explanation: row.explanation }))
        .execute();
    }
    for (const row of captures) {
      await transaction
        .insertInto("request_captures")
        .values(row)
        .onConflict((conflict) => conflict.column("request_id").doUpdateSet(row))
        .execute();
    }
  });
}

/** Rows of one delete: a captured body lies on many pages, an explanation on hardly one. */
const explanationsAtOnce = 500;
const capturesAtOnce = 20;

/** Removes what is too old, in batches small enough that a waiting write hardly notices. Resolves to how many rows went. */
export async function pruneExplained(database: Database, ages: ExplainAges): Promise<number> {
  const explanations = await inBatches(explanationsAtOnce, (limit) =>
    database.kysely
      .deleteFrom("request_explanations")
      .where("request_id", "in", (eb) =>
        eb
          .selectFrom("request_explanations")
          .select("request_id")
          .where("at", "<", ages.explanationsBefore)
          .orderBy("at")
          .limit(limit),
      )
      .executeTakeFirst(),
  );
  const captures = await inBatches(capturesAtOnce, (limit) =>
    database.kysely
      .deleteFrom("request_captures")
      .where("request_id", "in", (eb) =>
        eb.selectFrom("request_captures").select("request_id").where(tooOld(ages)).limit(limit),
      )
      .executeTakeFirst(),
  );
  return explanations + captures;
}

/** Whether there is anything to remove: asked often, and mostly answered with no. */
export async function anythingTooOld({ kysely }: Pick<Database, "kysely">, ages: ExplainAges): Promise<boolean> {
  const explanation = await kysely
    .selectFrom("request_explanations")
    .select("request_id")
    .where("at", "<", ages.explanationsBefore)
    .limit(1)
    .executeTakeFirst();
  if (explanation !== undefined) return true;
  const capture = await kysely
    .selectFrom("request_captures")
    .select("request_id")
    .where(tooOld(ages))
    .limit(1)
    .executeTakeFirst();
  return capture !== undefined;
}

/** Bodies are to be gone when they are gone: what is deleted is overwritten, and no commit waits for the disk by itself. */
export async function prepareForExplained({ kysely, flavour }: Database): Promise<void> {
  if (flavour.name !== "sqlite") return;
  await sql`pragma secure_delete = on`.execute(kysely);
  await sql`pragma synchronous = normal`.execute(kysely);
}

function tooOld({ capturesBefore, now }: ExplainAges) {
  return (eb: ExpressionBuilder<Tables, "request_captures">) =>
    eb.or([eb("expires_at", "<=", now), eb("at", "<", capturesBefore)]);
}

async function inBatches(
  limit: number,
  remove: (limit: number) => Promise<{ readonly numDeletedRows: bigint }>,
): Promise<number> {
  let removed = 0;
  for (;;) {
    const gone = Number((await remove(limit)).numDeletedRows);
    removed += gone;
    if (gone < limit) return removed;
    await new Promise(setImmediate);
  }
}

/** What was kept of requests, for whoever looks at one. A capture that has expired is gone, also before it is removed. */
export function createExplainStore({ kysely }: Pick<Database, "kysely">, clock: Pick<Clock, "now">): ExplainStore {
  return {
    async explanation(requestId) {
      const row = await kysely
        .selectFrom("request_explanations")
        .select("explanation")
        .where("request_id", "=", requestId)
        .executeTakeFirst();
      return row === undefined ? null : JSON.parse(row.explanation);
    },
    async capture(requestId) {
      const row = await kysely
        .selectFrom("request_captures")
        .selectAll()
        .where("request_id", "=", requestId)
        .where("expires_at", ">", clock.now())
        .executeTakeFirst();
      if (row === undefined) return null;
      return {
        request_headers: JSON.parse(row.request_headers),
        response_headers: JSON.parse(row.response_headers),
        request_body: row.request_body,
        request_bytes: row.request_bytes,
        response_body: row.response_body,
        response_bytes: row.response_bytes,
        truncated: row.truncated === 1,
        expires_at: row.expires_at,
      };
    },
  };
}
