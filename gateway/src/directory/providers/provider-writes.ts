import type { ProviderConfig } from "@sluice/contract/config-file";
import { conflictsOf } from "@sluice/contract/words";
import { Failure } from "#core/index.ts";
import type { AuditSource, ConfigStore, ProviderDraft, ProviderRecord } from "#ports/index.ts";
import { auditedWrite, type Connection, insertRows, removeRows, updateRow } from "#storage/tables.ts";
import type { ApplyContext, ControlOptions } from "../control-options.ts";
import { refuseDraft, refuseFileDeclared, refuseSuspended } from "../refusals.ts";
import { kindConflicts, type ProviderRow, providerObject, providerRecord, providerRow } from "./provider-rows.ts";

type ProviderWrites = Pick<
  ConfigStore,
  "listProviders" | "provider" | "createProvider" | "updateProvider" | "removeProvider"
>;

export function providerWrites(options: ControlOptions): ProviderWrites {
  const { kysely } = options.database;
  return {
    async listProviders() {
      const rows = await kysely.selectFrom("providers").selectAll().orderBy("id").execute();
      return rows.map((row) => providerRecord(row, options.vault));
    },
    async provider(id) {
      const row = await rowOf(kysely, id);
      return row === undefined ? null : providerRecord(row, options.vault);
    },
    createProvider: (draft, auditSource) => createProvider(options, draft, auditSource),
    updateProvider: (id, change, auditSource) => updateProvider(options, id, change, auditSource),
    removeProvider: (id, auditSource) => removeProvider(options, id, auditSource),
  };
}

async function createProvider(
  options: ControlOptions,
  draft: ProviderDraft,
  auditSource: AuditSource,
): Promise<ProviderRecord> {
  return await auditedWrite({ ...options, owner: "console" as const }, auditSource, async (context) => {
    const taken = await rowOf(context.transaction, draft.id);
    if (taken !== undefined) {
      refuseSuspended(taken, `provider ${draft.id}`);
      throw new Failure("conflict", `There is already a provider ${draft.id}.`, { param: "id" });
    }
    const row = rowFrom(context, draft, undefined);
    await insertRows(context, providerObject, [row]);
    return providerRecord(row, options.vault);
  });
}

async function updateProvider(
  options: ControlOptions,
  id: string,
  change: (before: ProviderRecord) => ProviderDraft,
  auditSource: AuditSource,
): Promise<ProviderRecord> {
  return await auditedWrite({ ...options, owner: "console" as const }, auditSource, async (context) => {
    const before = await ownRow(context, id);
    refuseSuspended(before, `provider ${id}`);
    const after = rowFrom(context, change(providerRecord(before, options.vault)), before);
    await updateRow(context, providerObject, { before, after });
    return providerRecord(after, options.vault);
  });
}

async function removeProvider(options: ControlOptions, id: string, auditSource: AuditSource): Promise<void> {
  await auditedWrite({ ...options, owner: "console" as const }, auditSource, async (context) => {
    const row = await ownRow(context, id);
    const users = await context.transaction
      .selectFrom("deployments")
      .select("model")
      .distinct()
      .where("provider", "=", id)
      .orderBy("model")
      .limit(namedMax + 1)
      .execute();
    if (users.length > 0) {
      const names = users.slice(0, namedMax).map(({ model }) => model);
      const more = users.length > namedMax ? " and others" : "";
      throw new Failure("conflict", `Models still lead to it: ${names.join(", ")}${more}. Take it out of them first.`);
    }
    await removeRows(context, providerObject, [row]);
  });
}

/** Models that a refusal names. */
const namedMax = 5;

async function ownRow(context: ApplyContext, id: string): Promise<ProviderRow> {
  const row = await rowOf(context.transaction, id);
  if (row === undefined) throw new Failure("not_found", "There is no such provider.", { param: "provider" });
  refuseFileDeclared(row, `provider ${id}`);
  return row;
}

async function rowOf(connection: Connection, id: string): Promise<ProviderRow | undefined> {
  return await connection.selectFrom("providers").selectAll().where("id", "=", id).executeTakeFirst();
}

/** The same checks and the same row as from a config file. */
function rowFrom(context: ApplyContext, draft: ProviderDraft, before: ProviderRow | undefined): ProviderRow {
  const { api_key, ...rest } = draft;
  const config: ProviderConfig = { ...rest, ...(api_key == null ? {} : { api_key }) };
  refuseDraft([...conflictsOf({ providers: [config] }), ...kindConflicts([config], context.kindDefaults)], 2);
  const row = providerRow(context, config, before);
  return api_key === null ? { ...row, sealed_secret: null } : row;
}
