import { type CompiledQuery, sql } from "kysely";
import type { KeptObject, LedgerEntry, UpstreamObject } from "#core/index.ts";
import type { Connection, Database } from "../database/database.ts";
import { runEach } from "../database/each-row.ts";
import type { Row } from "../database/schema.ts";
import { type LedgerValues, ledgerPlaces, valuesOf } from "./ledger-columns.ts";

export type ObjectRow = Row<"upstream_objects">;

/** The objects of entries, as rows. */
export function objectRowsOf(entries: readonly LedgerEntry[]): readonly ObjectRow[] {
  return entries.flatMap((entry) => (entry.objects === undefined ? [] : objectRows(valuesOf(entry), entry.objects)));
}

/** The same of an entry as the ledger's table has it. Whose an object is and where, the entry says. */
export function objectRows(entry: LedgerValues, objects: readonly KeptObject[]): readonly ObjectRow[] {
  const text = (column: keyof typeof ledgerPlaces): string => String(entry[ledgerPlaces[column]] ?? "");
  const person = entry[ledgerPlaces.person_id];
  return objects.map(({ id, kind, inputTokens, expiresAt }) => ({
    workspace_id: text("workspace_id"),
    id,
    kind,
    provider: text("provider"),
    key_id: text("key_id"),
    person_id: typeof person === "string" ? person : null,
    deployment: text("deployment"),
    model: text("model"),
    upstream_model: text("upstream_model"),
    input_tokens: inputTokens,
    created_at: Number(entry[ledgerPlaces.ended_at]),
    expires_at: expiresAt,
  }));
}

export function objectOf(row: ObjectRow): UpstreamObject {
  return {
    id: row.id,
    kind: row.kind,
    inputTokens: row.input_tokens,
    expiresAt: row.expires_at,
    workspaceId: row.workspace_id,
    keyId: row.key_id,
    personId: row.person_id,
    provider: row.provider,
    deployment: row.deployment,
    model: row.model,
    upstreamModel: row.upstream_model,
    createdAt: row.created_at,
  };
}

export function rowOf(object: UpstreamObject): ObjectRow {
  return {
    workspace_id: object.workspaceId,
    id: object.id,
    kind: object.kind,
    provider: object.provider,
    key_id: object.keyId,
    person_id: object.personId,
    deployment: object.deployment,
    model: object.model,
    upstream_model: object.upstreamModel,
    input_tokens: object.inputTokens,
    created_at: object.createdAt,
    expires_at: object.expiresAt,
  };
}

/**
 * Makes the function that writes objects within the transaction that inserts their entries. Writing one twice changes nothing. Of
 * two records of one object the newer one counts; tokens that one of them knows stay known.
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
        rows.map((row) => columns.map((column) => row[column])),
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
        }))
        .whereRef("excluded.created_at", ">=", "upstream_objects.created_at"),
    );
}

/** Each object once; two writers of the same ones take them in the same order, and do not wait in a circle. */
function inOrder(rows: readonly ObjectRow[]): readonly ObjectRow[] {
  const byKey = new Map<string, ObjectRow>();
  for (const row of rows) {
    const key = `${row.workspace_id}\n${row.id}`;
    const before = byKey.get(key);
    if (before === undefined) byKey.set(key, row);
    else if (row.created_at >= before.created_at) {
      byKey.set(key, { ...row, input_tokens: row.input_tokens ?? before.input_tokens });
    }
  }
  return [...byKey].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}

const placeholders: ObjectRow = {
  workspace_id: "",
  id: "",
  kind: "other",
  provider: "",
  key_id: "",
  person_id: "",
  deployment: "",
  model: "",
  upstream_model: "",
  input_tokens: 0,
  created_at: 0,
  expires_at: 0,
};

const columns = Object.keys(placeholders) as readonly (keyof ObjectRow)[];
const renewed = columns.filter((column) => !["workspace_id", "id", "input_tokens"].includes(column));
/** Far fewer parameters than one statement may have. */
const rowsTogether = 500;
