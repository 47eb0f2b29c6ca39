import type {
  AuditSource,
  Clock,
  Crossing,
  Ids,
  NoticeFields,
  NoticeStore,
  StoredNotice,
  Vault,
} from "#ports/index.ts";
import { insertRows, removeRows, updateRow } from "../changes/audited-rows.ts";
import { auditedWrite } from "../changes/audited-write.ts";
import type { Connection, Database } from "../database/database.ts";
import { underDueLease, updateDue } from "../database/leases.ts";
import { dueOf, noticeObject, noticeOf, noticeRow, type ToldRow } from "./notice-rows.ts";

export interface NoticeStoreOptions {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly ids: Ids;
}

export function createNoticeStore(options: NoticeStoreOptions): NoticeStore {
  const { database, vault, clock, ids } = options;
  return {
    list: (workspaceId) => listNotices(options, workspaceId),
    find: async (id) => (await listNotices(options, null, id))[0] ?? null,
    create: async (workspaceId, fields, auditSource) => {
      const place = { id: ids.next("not_"), workspace_id: workspaceId, created_at: clock.now(), sealedBefore: null };
      const row = noticeRow(vault, place, fields);
      await auditedWrite(options, auditSource, (under) => insertRows(under, noticeObject(vault), [row]));
      return noticeOf(vault, row, undefined);
    },
    update: async (id, fields, auditSource) => {
      await updateNotice(options, id, fields, auditSource);
      return (await listNotices(options, null, id))[0] ?? null;
    },
    remove: async (id, auditSource) => {
      await auditedWrite(options, auditSource, async (under) => {
        const { transaction } = under;
        const row = await transaction.selectFrom("notices").selectAll().where("id", "=", id).executeTakeFirst();
        if (row === undefined) return;
        await transaction.deleteFrom("notices_told").where("notice_id", "=", id).execute();
        await removeRows(under, noticeObject(vault), [row]);
      });
    },
    cross: (crossings, now) => writeCrossings(database.kysely, crossings, now),
    prune: async (beforeMs) => {
      const { numDeletedRows } = await database.kysely
        .deleteFrom("notices_told")
        .where("due_at", "is", null)
        .where("at", "<", beforeMs)
        // Those of a budget in total have no end: without them they would be told again.
        .where("period_start", ">", 0)
        .where("period_start", "<", beforeMs)
        .executeTakeFirstOrThrow();
      return Number(numDeletedRows);
    },
    due: async (now, leaseMs, limit) => {
      const leasedUntil = now + leaseMs;
      const rows = await updateDue(database, database.kysely, "notices_told", { now, limit })
        .set({ due_at: leasedUntil })
        .returningAll()
        .execute();
      return rows.map((row) => dueOf(row, leasedUntil));
    },
    tried: async (leased, { tries, dueAt, sentAt, problem }) => {
      const update = oneTold(database.kysely, leased)
        .set({ tries, due_at: dueAt, sent_at: sentAt, problem })
        .where("sent_at", "is", null);
      // That it was sent is true whoever says it. Who stood still knows only of an older failure.
      await (sentAt === null ? update.where(underDueLease(leased.leasedUntil)) : update).execute();
    },
  };
}

async function listNotices(
  { database, vault }: NoticeStoreOptions,
  workspaceId: string | null,
  id?: string,
): Promise<readonly StoredNotice[]> {
  let query = database.kysely.selectFrom("notices").selectAll().orderBy("created_at").orderBy("id");
  if (workspaceId !== null) query = query.where("workspace_id", "=", workspaceId);
  if (id !== undefined) query = query.where("id", "=", id);
  const rows = await query.execute();
  const latest = new Map<string, ToldRow>();
  if (rows.length > 0) {
    const ids = rows.map((row) => row.id);
    for (const row of await latestTold(database.kysely, ids)) latest.set(row.notice_id, row);
  }
  return rows.map((row) => noticeOf(vault, row, latest.get(row.id)));
}

/** What was told last of each, and of one moment perhaps several; of all that was ever told nothing else is read. */
async function latestTold(connection: Connection, ids: readonly string[]): Promise<readonly ToldRow[]> {
  return await connection
    .with("told", (cte) =>
      cte
        .selectFrom("notices_told")
        .selectAll()
        .where("notice_id", "in", ids)
        // Silent ones were never meant to be sent.
        .where((eb) => eb.or([eb("tries", ">", 0), eb("due_at", "is not", null)])),
    )
    .with("latest", (cte) =>
      cte
        .selectFrom("told")
        .select(["notice_id as latest_of", (eb) => eb.fn.max("at").as("latest_at")])
        .groupBy("notice_id"),
    )
    .selectFrom("told")
    .innerJoin("latest", (join) => join.onRef("latest_of", "=", "told.notice_id").onRef("latest_at", "=", "told.at"))
    .selectAll("told")
    .execute();
}

async function updateNotice(
  options: NoticeStoreOptions,
  id: string,
  fields: Partial<NoticeFields>,
  auditSource: AuditSource,
): Promise<void> {
  const { vault } = options;
  await auditedWrite(options, auditSource, async (under) => {
    const before = await under.transaction.selectFrom("notices").selectAll().where("id", "=", id).executeTakeFirst();
    if (before === undefined) return;
    const wanted = { ...noticeOf(vault, before, undefined), ...fields };
    const after = noticeRow(vault, { ...before, sealedBefore: before.sealed_channel }, wanted);
    await updateRow(under, noticeObject(vault), { before, after });
  });
}

async function writeCrossings(
  connection: Connection,
  crossings: readonly (Crossing & { readonly silent: boolean })[],
  now: number,
): Promise<void> {
  for (const crossing of crossings) {
    await connection
      .insertInto("notices_told")
      .values({
        notice_id: crossing.noticeId,
        budget: crossing.budget,
        period_start: crossing.periodStart,
        percent: crossing.percent,
        label: crossing.label,
        used_usd: crossing.usedUsd,
        limit_usd: crossing.limitUsd,
        at: now,
        tries: 0,
        due_at: crossing.silent ? null : now,
        sent_at: null,
        problem: null,
      })
      .onConflict((conflict) => conflict.columns(["notice_id", "budget", "period_start", "percent"]).doNothing())
      .execute();
  }
}

function oneTold(connection: Connection, told: Pick<Crossing, "noticeId" | "budget" | "periodStart" | "percent">) {
  return connection
    .updateTable("notices_told")
    .where("notice_id", "=", told.noticeId)
    .where("budget", "=", told.budget)
    .where("period_start", "=", told.periodStart)
    .where("percent", "=", told.percent);
}
