import { type CompiledQuery, sql } from "kysely";
import { columnsOf, containerModel, membersOf, renewedUpstreamModel, type UpstreamObject } from "#core/index.ts";
import type { UpstreamObjectStore } from "#ports/index.ts";
import { type Connection, type Database, deleteInBatches } from "../database/database.ts";
import type { Row } from "../database/schema.ts";
import { runEach } from "../database/sqlite-dialect.ts";
import { entryOfRecord } from "../journal/journal-record.ts";
import { inObjects, type LedgerRecord } from "../journal/record-text.ts";

export type ObjectRow = Row<"upstream_objects">;

export function hasObjects(record: LedgerRecord): boolean {
  return !record.isNull(inObjects);
}

/** The objects of records, as rows with the owner and account of the record. */
export function objectRowsOf(records: readonly LedgerRecord[]): readonly ObjectRow[] {
  return records.flatMap((record) => {
    const { endedAt, objects = [], ...entry } = entryOfRecord(record.json);
    return objects.map(({ id, kind, inputTokens, expiresAt, masked }) => ({
      workspace_id: entry.workspaceId,
      id,
      kind,
      provider: entry.provider,
      key_id: entry.keyId,
      person_id: entry.personId ?? null,
      session: entry.session ?? null,
      deployment: entry.deployment,
      model: entry.model,
      upstream_model: entry.upstreamModel,
      input_tokens: inputTokens,
      created_at: endedAt,
      expires_at: expiresAt,
      masked: masked ?? null,
    }));
  });
}

/**
 * Returns a function that writes objects in the transaction of their entries. Idempotent. The newer of two records of an object wins, but
 * never removes its number of tokens, masked values or a container's memory.
 */
export function objectWriter(
  database: Pick<Database, "kysely" | "flavour">,
): (connection: Connection, rows: readonly ObjectRow[]) => Promise<void> {
  if (database.flavour.name === "sqlite") {
    const each = upsert(database.kysely, [placeholders]).compile();
    return async (connection, rows) => {
      if (rows.length === 0) return;
      await runEach(
        connection,
        each as CompiledQuery,
        rows.map((row) => columns.map((column) => row[column] ?? null)),
      );
    };
  }
  return async (connection, rows) => {
    const newest = inOrder(rows);
    for (let at = 0; at < newest.length; at += rowsTogether) {
      await upsert(connection, newest.slice(at, at + rowsTogether)).execute();
    }
  };
}

function upsert(connection: Connection, rows: readonly ObjectRow[]) {
  return connection
    .insertInto("upstream_objects")
    .values([...rows])
    .onConflict((conflict) =>
      conflict
        .columns(["workspace_id", "id"])
        .doUpdateSet((eb) => ({
          ...Object.fromEntries(renewed.map((column) => [column, eb.ref(`excluded.${column}`)])),
          input_tokens: sql<number | null>`coalesce(excluded.input_tokens, upstream_objects.input_tokens)`,
          masked: sql<string | null>`coalesce(excluded.masked, upstream_objects.masked)`,
          upstream_model: renewedModel,
        }))
        .whereRef("excluded.created_at", ">=", "upstream_objects.created_at"),
    );
}

/** `renewedUpstreamModel` in SQL. */
const renewedModel = sql<string>`case
  when excluded.kind = 'container' and excluded.upstream_model not like ${sql.lit(`${containerModel}%`)}
    and upstream_objects.upstream_model like ${sql.lit(`${containerModel}%`)}
  then upstream_objects.upstream_model else excluded.upstream_model end`;

/** Deduplicates objects and sorts them, so that concurrent writers lock in the same order. */
function inOrder(rows: readonly ObjectRow[]): readonly ObjectRow[] {
  const byKey = new Map<string, ObjectRow>();
  for (const row of rows) {
    const key = `${row.workspace_id}\n${row.id}`;
    const before = byKey.get(key);
    if (before === undefined) byKey.set(key, row);
    else if (row.created_at >= before.created_at) {
      const { input_tokens, masked } = before;
      byKey.set(key, {
        ...row,
        input_tokens: row.input_tokens ?? input_tokens,
        masked: row.masked ?? masked,
        upstream_model: renewedUpstreamModel(before.upstream_model, membersOf(row)),
      });
    }
  }
  return [...byKey].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}

const columns = [
  "workspace_id",
  "id",
  "kind",
  "provider",
  "key_id",
  "person_id",
  "session",
  "deployment",
  "model",
  "upstream_model",
  "input_tokens",
  "created_at",
  "expires_at",
  "masked",
] as const;
const placeholders = Object.fromEntries(columns.map((column) => [column, ""])) as unknown as ObjectRow;
const renewed = columns.filter(
  (column) => !["workspace_id", "id", "input_tokens", "masked", "upstream_model"].includes(column),
);
/** Far below the maximum number of parameters. */
const rowsTogether = 500;

export function createUpstreamObjectStore(database: Database): UpstreamObjectStore {
  const { kysely, reading } = database;
  const write = objectWriter(database);
  return {
    async find(workspaceId, ids) {
      const rows = await reading
        .selectFrom("upstream_objects")
        .select(columns)
        .where("workspace_id", "=", workspaceId)
        .where("id", "in", [...ids])
        .execute();
      return rows.map((row) => membersOf(row));
    },
    async list(workspaceId, { kind, providers, now, after, limit, isOldestFirst }) {
      if (providers.length === 0) return [];
      const direction = isOldestFirst ? "asc" : "desc";
      let rows = reading
        .selectFrom("upstream_objects")
        .select(columns)
        .where("workspace_id", "=", workspaceId)
        .where("kind", "=", kind)
        .where("provider", "in", [...providers])
        .where((eb) => eb.or([eb("expires_at", "is", null), eb("expires_at", ">", now)]));
      if (after !== null) {
        rows = rows.where((eb) =>
          eb(eb.refTuple("created_at", "id"), isOldestFirst ? ">" : "<", eb.tuple(after.createdAt, after.id)),
        );
      }
      const found = await rows.orderBy("created_at", direction).orderBy("id", direction).limit(limit).execute();
      return found.map((row) => membersOf(row));
    },
    async newest(workspaceId, { kinds, now, limit, keyId, visiblePerson }) {
      const found: UpstreamObject[] = [];
      for (const kind of kinds) {
        let rows = reading
          .selectFrom("upstream_objects")
          .select(columns)
          .where("workspace_id", "=", workspaceId)
          // SQLite uses a partial index only if its condition is in the statement.
          .where("kind", "=", sql.lit(kind))
          .where((eb) => eb.or([eb("expires_at", "is", null), eb("expires_at", ">", now)]));
        if (keyId !== undefined) rows = rows.where("key_id", "=", keyId);
        if (visiblePerson !== undefined) {
          rows = rows.where((eb) => eb.or([eb("person_id", "is", null), eb("person_id", "=", visiblePerson)]));
        }
        const newest = await rows.orderBy("created_at", "desc").limit(limit).execute();
        found.push(...newest.map((row) => membersOf(row) as UpstreamObject));
      }
      return found.toSorted((one, other) => other.createdAt - one.createdAt).slice(0, limit);
    },
    async everywhere(kind, { now, after, limit }) {
      let rows = reading
        .selectFrom("upstream_objects")
        .select(columns)
        .where("kind", "=", sql.lit(kind))
        .where((eb) => eb.or([eb("expires_at", "is", null), eb("expires_at", ">", now)]));
      if (after !== null) {
        rows = rows.where((eb) => eb(eb.refTuple("workspace_id", "id"), ">", eb.tuple(after.workspaceId, after.id)));
      }
      const found = await rows.orderBy("workspace_id").orderBy("id").limit(limit).execute();
      return found.map((row) => membersOf(row));
    },
    put: (object) => write(kysely, [{ ...columnsOf(object), masked: object.masked ?? null }]),
    prune: (now) =>
      deleteInBatches(database, (rows) => {
        const expired = kysely
          .selectFrom("upstream_objects")
          .select(["workspace_id", "id"])
          .where("expires_at", "<", now)
          .orderBy("expires_at")
          .limit(rows);
        return kysely
          .deleteFrom("upstream_objects")
          .where((eb) => eb(eb.refTuple("workspace_id", "id"), "in", expired.$asTuple("workspace_id", "id")));
      }),
  };
}
