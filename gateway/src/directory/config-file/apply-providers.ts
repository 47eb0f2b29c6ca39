import type { ProviderConfig } from "@sluice/contract/config-file";
import { insertRows, reconcile, suspendRows, updateRow } from "#storage/tables.ts";
import type { ApplyContext } from "../control-options.ts";
import { type ProviderRow, providerObject, providerRow } from "../providers/provider-rows.ts";

/** Creates and updates; gives the providers that vanished, to be suspended once no deployment stands on them. */
export async function applyProviders(
  context: ApplyContext,
  providers: readonly ProviderConfig[],
): Promise<readonly ProviderRow[]> {
  const existing = await context.transaction.selectFrom("providers").selectAll().execute();
  const byId = new Map(existing.map((row) => [row.id, row]));
  const wanted = providers.map((provider) => providerRow(context, provider, byId.get(provider.id)));
  const { create, update, vanished } = reconcile(existing, wanted, (row) => row.id);
  await insertRows(context, providerObject, create);
  for (const change of update) await updateRow(context, providerObject, change);
  return vanished;
}

/** A provider that deployments made elsewhere still use is handed over instead of suspended. */
export async function suspendProviders(context: ApplyContext, vanished: readonly ProviderRow[]): Promise<void> {
  for (const row of vanished) {
    const used = await context.transaction
      .selectFrom("deployments")
      .innerJoin("models", "models.name", "deployments.model")
      .select("deployments.id")
      .where("deployments.provider", "=", row.id)
      .where("models.managed_by", "!=", "suspended")
      .executeTakeFirst();
    if (used === undefined) await suspendRows(context, providerObject, [row]);
    else await updateRow(context, providerObject, { before: row, after: { ...row, managed_by: "console" } });
  }
}
