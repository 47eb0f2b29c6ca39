import type { Clock, ExplainStore } from "#ports/index.ts";
import type { Database } from "../database/database.ts";

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
