import type { Notice, NoticeChannel } from "@sluice/contract/console";
import { limitScopes, storedRemark } from "@sluice/contract/words";
import { columnsOf, endingTokenId, type LimitScope, membersOf } from "#core/index.ts";
import type { AuditSource, Vault } from "#ports/index.ts";
import {
  type AuditedObject,
  auditedWrite,
  type Connection,
  channelSealId,
  insertRows,
  isLeasedUntil,
  type Row,
  removeRows,
  sealIfChanged,
  updateDue,
  updateRow,
} from "#storage/tables.ts";
import { deleteRows, findRow, findRows } from "./rows.ts";
import type { SealedDirectory } from "./store.ts";

export interface StoredNotice extends Notice {
  readonly workspaceId: string;
  /** The object with the budget that `last` is about. null: nothing was sent yet, or `last` is about a service token. */
  readonly lastScope: { readonly kind: LimitScope["kind"]; readonly id: string } | null;
}

export type NoticeFields = Pick<Notice, "name" | "percent" | "scope" | "scope_id" | "channel" | "enabled">;

/** A budget reached a percentage in the period that begins at `periodStart` (Unix milliseconds). */
export interface Crossing {
  readonly noticeId: string;
  readonly budget: string;
  readonly periodStart: number;
  readonly percent: number;
  readonly label: string;
  readonly usedUsd: number;
  readonly limitUsd: number;
}

/** A crossing to send, leased until `leasedUntil` (Unix milliseconds). `tries`: the number of attempts so far. */
export interface DueNotice extends Crossing {
  readonly leasedUntil: number;
  readonly at: number;
  readonly tries: number;
}

type NoticeRow = Row<"notices">;
type SendRow = Row<"notice_sends">;

export type NoticeStore = ReturnType<typeof createNoticeStore>;

/** Notices about budgets. Each crossing is sent once in its period, by the process that sees it first. */
export function createNoticeStore(options: SealedDirectory) {
  const { database, vault, clock, ids } = options;
  const { kysely } = database;
  const list = async (where: { readonly workspace_id?: string; readonly id?: string }) => {
    const rows = await findRows(kysely, "notices", where, "created_at", "id");
    const ids = rows.map((row) => row.id);
    const latest = new Map((await latestSends(kysely, ids)).map((row) => [row.notice_id, row]));
    return rows.map((row) => noticeOf(vault, row, latest.get(row.id)));
  };
  const find = async (id: string): Promise<StoredNotice | null> => (await list({ id }))[0] ?? null;
  return {
    /** `workspaceId` null: the notices of all workspaces. */
    list: (workspaceId: string | null) => list(workspaceId === null ? {} : { workspace_id: workspaceId }),
    find,
    async create(workspaceId: string, fields: NoticeFields, auditSource: AuditSource): Promise<StoredNotice> {
      const place = { id: ids.next("not_"), workspace_id: workspaceId, created_at: clock.now() };
      const row = noticeRow(vault, place, fields);
      await auditedWrite(options, auditSource, (context) => insertRows(context, noticeObject(vault), [row]));
      return noticeOf(vault, row, undefined);
    },
    async update(id: string, fields: Partial<NoticeFields>, auditSource: AuditSource): Promise<StoredNotice | null> {
      await auditedWrite(options, auditSource, async (context) => {
        const before = await findRow(context.transaction, "notices", { id });
        if (before === undefined) return;
        const wanted = { ...noticeOf(vault, before, undefined), ...fields };
        const after = noticeRow(vault, before, wanted);
        await updateRow(context, noticeObject(vault), { before, after });
      });
      return await find(id);
    },
    async remove(id: string, auditSource: AuditSource): Promise<void> {
      await auditedWrite(options, auditSource, async (context) => {
        const row = await findRow(context.transaction, "notices", { id });
        if (row === undefined) return;
        await deleteRows(context.transaction, "notice_sends", { notice_id: id });
        await removeRows(context, noticeObject(vault), [row]);
      });
    },
    /** Stores new crossings to send now; `silent` ones are never sent. */
    async recordCrossings(crossings: readonly (Crossing & { readonly silent: boolean })[], now: number): Promise<void> {
      for (const { silent, ...crossing } of crossings) {
        await kysely
          .insertInto("notice_sends")
          .values({ ...columnsOf(crossing), at: now, tries: 0, due_at: silent ? null : now })
          .onConflict((conflict) => conflict.columns(["notice_id", "budget", "period_start", "percent"]).doNothing())
          .execute();
      }
    },
    /** Deletes crossings older than a time in periods that began before it. Returns the number of deleted rows. */
    async prune(beforeMs: number): Promise<number> {
      const { numDeletedRows } = await kysely
        .deleteFrom("notice_sends")
        .where("due_at", "is", null)
        .where("at", "<", beforeMs)
        // A budget without a period begins at 0. Its notice would be sent again if its row were deleted.
        .where("period_start", ">", 0)
        .where("period_start", "<", beforeMs)
        .executeTakeFirstOrThrow();
      return Number(numDeletedRows);
    },
    async leaseDue(now: number, leaseMs: number, limit: number): Promise<readonly DueNotice[]> {
      const leasedUntil = now + leaseMs;
      const rows = await updateDue(database, kysely, "notice_sends", { now, limit })
        .set({ due_at: leasedUntil })
        .returning(["notice_id", "budget", "period_start", "percent", "label", "used_usd", "limit_usd", "at", "tries"])
        .execute();
      return rows.map((row) => ({ ...membersOf(row), leasedUntil }));
    },
    /** Stores the result of an attempt. `dueAt` null: sent, or no more attempts. A failure is stored only while the lease is valid. */
    async recordSend(
      leased: Pick<DueNotice, "noticeId" | "budget" | "periodStart" | "percent" | "leasedUntil">,
      result: {
        readonly tries: number;
        readonly dueAt: number | null;
        readonly sentAt: number | null;
        readonly problem: string | null;
      },
    ): Promise<void> {
      const update = kysely
        .updateTable("notice_sends")
        .set(columnsOf(result))
        .where("notice_id", "=", leased.noticeId)
        .where("budget", "=", leased.budget)
        .where("period_start", "=", leased.periodStart)
        .where("percent", "=", leased.percent)
        .where("sent_at", "is", null);
      await (result.sentAt === null ? update.where(isLeasedUntil(leased.leasedUntil)) : update).execute();
    },
  };
}

/** The latest crossings of each notice that were meant to be sent. */
async function latestSends(connection: Connection, ids: readonly string[]): Promise<readonly SendRow[]> {
  if (ids.length === 0) return [];
  return await connection
    .with("sends", (cte) =>
      cte
        .selectFrom("notice_sends")
        .selectAll()
        .where("notice_id", "in", ids)
        .where((eb) => eb.or([eb("tries", ">", 0), eb("due_at", "is not", null)])),
    )
    .with("latest", (cte) =>
      cte
        .selectFrom("sends")
        .select(["notice_id as latest_of", (eb) => eb.fn.max("at").as("latest_at")])
        .groupBy("notice_id"),
    )
    .selectFrom("sends")
    .innerJoin("latest", (join) => join.onRef("latest_of", "=", "sends.notice_id").onRef("latest_at", "=", "sends.at"))
    .selectAll("sends")
    .execute();
}

/** The sealed channel of `before` is kept if the channel does not change. */
function noticeRow(
  vault: Vault,
  before: Pick<NoticeRow, "id" | "workspace_id" | "created_at"> & Partial<NoticeRow>,
  { name, percent, scope, scope_id, channel, enabled }: NoticeFields,
): NoticeRow {
  const { id, workspace_id, created_at, sealed_channel = null } = before;
  return {
    ...{ id, workspace_id, created_at, name, scope },
    percent: JSON.stringify([...new Set(percent)].sort((a, b) => a - b)),
    scope_id: scope === null ? null : scope_id,
    sealed_channel: sealIfChanged(vault, channelSealId(id), sealed_channel, JSON.stringify(channel)),
    enabled: enabled ? 1 : 0,
  };
}

function noticeOf(vault: Vault, row: NoticeRow, last: SendRow | undefined): StoredNotice {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    name: row.name,
    percent: JSON.parse(row.percent),
    scope: scopeOf(row.scope),
    scope_id: row.scope_id,
    channel: channelOf(vault, row.id, row.sealed_channel),
    enabled: row.enabled === 1,
    created_at: row.created_at,
    last: last === undefined ? null : lastOf(last),
    lastScope: last === undefined ? null : lastScopeOf(last),
  };
}

/** Notices are not cached, so there are no caches to invalidate. */
function noticeObject(vault: Vault): AuditedObject<"notices"> {
  return {
    table: "notices",
    idColumn: "id",
    label: (row) => `notice ${row.name}`,
    view: ({ sealed_channel, ...rest }) => ({
      ...rest,
      percent: JSON.parse(rest.percent),
      // Only the type of the channel, since a webhook address may be a secret.
      channel: channelOf(vault, rest.id, sealed_channel).kind,
    }),
    workspaceOf: (row) => row.workspace_id,
    notify: () => undefined,
  };
}

function channelOf(vault: Vault, id: string, sealed: string): NoticeChannel {
  return JSON.parse(vault.open(sealed, channelSealId(id)).reveal());
}

function lastOf(row: SendRow): Notice["last"] {
  const { percent, label, problem } = row;
  const fault = storedRemark("alert", problem);
  const about = endingTokenId(row) === null ? ("budget" as const) : ("service_token" as const);
  return { at: row.sent_at ?? row.at, about, budget: label, percent, ok: row.sent_at !== null, problem, fault };
}

/** Parses the budget name that `crossingsOf` builds. */
function lastScopeOf(row: SendRow): StoredNotice["lastScope"] {
  const [named = "", id] = row.budget.split(" ");
  const kind = endingTokenId(row) === null ? scopeOf(named) : null;
  return kind === null || id === undefined ? null : { kind, id };
}

function scopeOf(text: string | null): Notice["scope"] {
  return limitScopes.find((scope) => scope === text) ?? null;
}
