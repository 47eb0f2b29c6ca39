import { sql } from "kysely";
import type { RightsSource } from "#ports/index.ts";
import type { Database } from "../database/database.ts";
import { accountSealId, channelSealId, guardrailSealId, sealId, tokenSealId } from "../vault/sealed-columns.ts";
import type { DatabaseVault } from "../vault/vault.ts";

interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** Primary key. */
  readonly keys: readonly string[];
  readonly where?: string;
  readonly rowId: (...keys: readonly string[]) => string;
}

/** Everything the vault seals. A test fails if the schema has another sealed column. */
export const sealedColumns: readonly SealedColumn[] = [
  { table: "providers", column: "sealed_secret", keys: ["id"], rowId: (id = "") => sealId(id, "secret") },
  { table: "providers", column: "sealed_settings", keys: ["id"], rowId: (id = "") => sealId(id, "settings") },
  { table: "providers", column: "sealed_billing", keys: ["id"], rowId: (id = "") => sealId(id, "billing") },
  { table: "tasks", column: "sealed_account", keys: ["id"], rowId: (id = "") => accountSealId(id) },
  { table: "alert_channels", column: "sealed_target", keys: ["id"], rowId: (id = "") => channelSealId(id) },
  { table: "guardrails", column: "sealed_secret", keys: ["id"], rowId: (id = "") => guardrailSealId(id) },
  {
    ...{ table: "person_claims", column: "refresh_token", keys: ["user_id", "source"] },
    rowId: (user = "", source = "") => tokenSealId(user, source as RightsSource),
  },
  // Single sign-on accounts and rights rules.
  { table: "settings", column: "value", keys: ["name"], where: "sign-in.%", rowId: (name = "") => `setting:${name}` },
];

const batchRows = 200;

/**
 * Reseals values with the current root, in batches, while gateways run. Yields the number of rows changed per batch. Can be repeated
 * after a crash.
 */
export async function* resealAll(database: Database, vault: DatabaseVault): AsyncGenerator<number> {
  for (const column of sealedColumns) yield* sealColumnAgain(database, vault, column);
}

async function* sealColumnAgain(
  { kysely }: Database,
  vault: DatabaseVault,
  { table, column, keys, where, rowId }: SealedColumn,
): AsyncGenerator<number> {
  const names = sql.join(keys.map((key) => sql.ref(key)));
  const only = where === undefined ? sql`` : sql`and ${sql.ref(keys[0] ?? "")} like ${where}`;
  let last = keys.map(() => "");
  for (;;) {
    const { rows } = await sql<Record<string, string>>`
      select ${names}, ${sql.ref(column)} as sealed from ${sql.table(table)}
      where ${sql.ref(column)} is not null and (${names}) > (${sql.join(last)}) ${only}
      order by ${names} limit ${batchRows}`.execute(kysely);
    if (rows.length === 0) return;
    const keysOf = (row: Record<string, string>) => keys.map((key) => row[key] ?? "");
    last = keysOf(rows.at(-1) ?? {});
    yield await kysely.transaction().execute(async (transaction) => {
      let changed = 0;
      for (const row of rows) {
        const sealed = row["sealed"] ?? "";
        const again = vault.reseal(sealed, rowId(...keysOf(row)));
        if (again === null) continue;
        // Rows changed meanwhile are already sealed with the current root.
        await sql`
          update ${sql.table(table)} set ${sql.ref(column)} = ${again}
          where (${names}) = (${sql.join(keysOf(row))}) and ${sql.ref(column)} = ${sealed}`.execute(transaction);
        changed++;
      }
      return changed;
    });
  }
}
