import { type ExpressionBuilder, sql } from "kysely";
import type { Clock, ExplainStore } from "#ports/index.ts";
import type { Database } from "../database/database.ts";
import type { NewRow, Tables } from "../database/schema.ts";
import { toolsIn } from "./captured-tools.ts";

export interface ExplainBatch {
  readonly explanations: readonly NewRow<"request_explanations">[];
  readonly captures: readonly NewRow<"request_captures">[];
  readonly folded: readonly NewRow<"folded_requests">[];
}

/**
 * Explanations and folded requests before `explanationsBefore`, and captures before `capturesBefore` or expired at `now`. Unix
 * milliseconds.
 */
export interface ExplainAges {
  readonly explanationsBefore: number;
  readonly capturesBefore: number;
  readonly now: number;
}

/** In one transaction. A later explanation or capture of a request replaces the earlier one. */
export async function writeExplanations(
  database: Database,
  { explanations, captures, folded }: ExplainBatch,
): Promise<void> {
  await database.kysely.transaction().execute(async (transaction) => {
    for (const row of explanations) {
      await transaction
        .insertInto("request_explanations")
        .values(row)
        .onConflict((conflict) => conflict.column("request_id").doUpdateSet({ explanation: row.explanation }))
        .execute();
    }
    for (const capture of captures) {
      const row = { ...capture, tools: toolsOf(capture) };
      await transaction
        .insertInto("request_captures")
        .values(row)
        .onConflict((conflict) => conflict.column("request_id").doUpdateSet(row))
        .execute();
    }
    for (const row of folded) {
      await transaction
        .insertInto("folded_requests")
        .values(row)
        .onConflict((conflict) => conflict.column("request_id").doNothing())
        .execute();
    }
  });
}

function toolsOf({ request_body: request = null, response_body: response = null }: NewRow<"request_captures">) {
  return request === null && response === null ? null : JSON.stringify(toolsIn(request, response));
}

/** A captured body takes many pages, an explanation hardly one. */
const explanationsAtOnce = 500;
const capturesAtOnce = 20;

/** Removes one small batch of each kind, so that writers hardly wait. Resolves to the number of rows removed; 0: none is left. */
export async function pruneExplanations({ kysely }: Database, ages: ExplainAges): Promise<number> {
  const explanations = kysely
    .selectFrom("request_explanations")
    .select("request_id")
    .where("at", "<", ages.explanationsBefore)
    .orderBy("at")
    .limit(explanationsAtOnce);
  const folded = kysely
    .selectFrom("folded_requests")
    .select("request_id")
    .where("at", "<", ages.explanationsBefore)
    .orderBy("at")
    .limit(explanationsAtOnce);
  const captures = kysely
    .selectFrom("request_captures")
    .select("request_id")
    .where(isTooOld(ages))
    .limit(capturesAtOnce);
  const removals = [
    kysely.deleteFrom("request_explanations").where("request_id", "in", explanations),
    kysely.deleteFrom("folded_requests").where("request_id", "in", folded),
    kysely.deleteFrom("request_captures").where("request_id", "in", captures),
  ];
  let removed = 0;
  for (const removal of removals) removed += Number((await removal.executeTakeFirstOrThrow()).numDeletedRows);
  return removed;
}

/** Called often; the answer is mostly no. */
export async function hasExpiredRows({ kysely }: Pick<Database, "kysely">, ages: ExplainAges): Promise<boolean> {
  const explanation = await kysely
    .selectFrom("request_explanations")
    .select("request_id")
    .where("at", "<", ages.explanationsBefore)
    .limit(1)
    .executeTakeFirst();
  if (explanation !== undefined) return true;
  const folded = await kysely
    .selectFrom("folded_requests")
    .select("request_id")
    .where("at", "<", ages.explanationsBefore)
    .limit(1)
    .executeTakeFirst();
  if (folded !== undefined) return true;
  const capture = await kysely
    .selectFrom("request_captures")
    .select("request_id")
    .where(isTooOld(ages))
    .limit(1)
    .executeTakeFirst();
  return capture !== undefined;
}

/** Overwrites deleted bodies. Commits need not be synced. */
export async function prepareExplainDatabase({ kysely, flavour }: Database): Promise<void> {
  if (flavour.name !== "sqlite") return;
  await sql`pragma secure_delete = on`.execute(kysely);
  await sql`pragma synchronous = normal`.execute(kysely);
}

function isTooOld({ capturesBefore, now }: ExplainAges) {
  return (eb: ExpressionBuilder<Tables, "request_captures">) =>
    eb.or([eb("expires_at", "<=", now), eb("at", "<", capturesBefore)]);
}

/** Expired captures are hidden before they are removed. */
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
