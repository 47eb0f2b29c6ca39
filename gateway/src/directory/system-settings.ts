import { Secret } from "#core/index.ts";
import type { Vault } from "#ports/index.ts";
import { type Connection, putSystemValue, type Row } from "#storage/tables.ts";
import { findRow } from "./rows.ts";
import type { SealedWrite } from "./store.ts";

/** An internal setting, parsed. It is encrypted, so that write access to the database is not enough to change it. null: not set. */
export async function sealedSetting(connection: Connection, vault: Vault, name: string): Promise<unknown> {
  const row = await findRow(connection, "settings", { name });
  return row === undefined ? null : opened(vault, row);
}

/** All settings with names that begin with `prefix`, by the rest of their names. */
export async function sealedSettings(
  connection: Connection,
  vault: Vault,
  prefix: string,
): Promise<ReadonlyMap<string, unknown>> {
  const rows = connection.selectFrom("settings").selectAll().where("name", "like", `${prefix}%`).orderBy("name");
  return new Map((await rows.execute()).map((row) => [row.name.slice(prefix.length), opened(vault, row)]));
}

export async function putSealedSetting({ transaction, vault }: SealedWrite, name: string, text: string): Promise<void> {
  await putSystemValue(transaction, name, vault.seal(new Secret(text), sealId(name)));
}

function opened(vault: Vault, { name, value }: Row<"settings">): unknown {
  return JSON.parse(vault.open(value, sealId(name)).reveal());
}

function sealId(name: string): string {
  return `setting:${name}`;
}
