import { sql } from "kysely";
import type { LedgerFault } from "#ports/index.ts";
import type { Connection } from "../database/database.ts";
import { namedSources, sessionEntrySums, sessionSums } from "./session-sums.ts";

const pageRows = 1_000;

/**
 * Compares sessions with their entries. `from`: older entries may have been removed, and with them sums of sessions that began before.
 * A session that is not listed may have been removed, too.
 */
export async function sessionFaults(
  connection: Connection,
  from: number,
  faultsMax: number,
): Promise<readonly LedgerFault[]> {
  return [...(await missingSessions(connection, from, faultsMax)), ...(await wrongSums(connection, from, faultsMax))];
}

interface SessionId {
  readonly key_id: string;
  readonly session: string;
}

async function missingSessions(connection: Connection, from: number, faultsMax: number) {
  const { rows } = await sql<SessionId>`
    select distinct key_id, session from ledger where session is not null and at >= ${from}
      and session_source in (${sql.join(namedSources.map((source) => sql.lit(source)))})
      and not exists (select 1 from sessions where sessions.key_id = ledger.key_id and sessions.session = ledger.session)
    limit ${faultsMax}`.execute(connection);
  return rows.map(({ key_id, session }) => ({ rule, detail: `session ${session} of key ${key_id} is missing` }));
}

const rule = "a session is the sum of its entries";

async function wrongSums(connection: Connection, from: number, faultsMax: number): Promise<readonly LedgerFault[]> {
  const faults: LedgerFault[] = [];
  const entries = sessionSums.map((sum) => `coalesce(sum(${sessionEntrySums[sum]}), 0) as ${sum}`).join(", ");
  const differences = sql.raw(
    sessionSums.map((sum) => `page.${sum} - coalesce(counted.${sum}, 0) as ${sum}`).join(", "),
  );
  for (let after: SessionId = { key_id: "", session: "" }; faults.length < faultsMax; ) {
    const page = await connection
      .selectFrom("sessions")
      .select(["key_id", "session"])
      .where(sql<boolean>`(key_id, session) > (${after.key_id}, ${after.session})`)
      .orderBy("key_id")
      .orderBy("session")
      .limit(pageRows)
      .execute();
    const last = page.at(-1);
    if (last === undefined) break;
    const { rows } = await sql<SessionId & Record<(typeof sessionSums)[number], number>>`
      with page as (
        select * from sessions where (key_id, session) > (${after.key_id}, ${after.session})
          and (key_id, session) <= (${last.key_id}, ${last.session}) and first_at >= ${from}
      ), counted as (
        select named.key_id, named.session, ${sql.raw(entries)}
        from (select key_id, session, first_at from page) as named
        join ledger on ledger.key_id = named.key_id and ledger.session = named.session
          and ledger.session is not null and ledger.at >= named.first_at
        group by named.key_id, named.session
      )
      select page.key_id, page.session, ${differences}
      from page left join counted on counted.key_id = page.key_id and counted.session = page.session`.execute(
      connection,
    );
    for (const row of rows) {
      const off = sessionSums.filter((sum) => Number(row[sum]) !== 0);
      if (off.length === 0) continue;
      const by = off.map((sum) => `${sum} by ${row[sum]}`).join(", ");
      faults.push({ rule, detail: `session ${row.session} of key ${row.key_id}: off in ${by}` });
    }
    after = last;
    // SQLite answers synchronously: give others a turn.
    await new Promise(setImmediate);
  }
  return faults.slice(0, faultsMax);
}
