import type { ModelConfig, ProviderConfig } from "@sluice/contract/config-file";
import { insertRows, reconcile, suspendRows, updateRow } from "#storage/tables.ts";
import type { ApplyContext } from "../control-options.ts";
import {
  dropNextPrice,
  type ModelRow,
  modelObject,
  modelRow,
  modelsLeaningOn,
  setPrice,
  setPriceOver,
} from "../providers/model-object.ts";
import { noPrices, pricesInForce } from "../providers/price-in-force.ts";
import { applyDeployments } from "./apply-deployments.ts";

/** Models with their prices and deployments. A model that vanished is suspended with them. */
export async function applyModels(
  context: ApplyContext,
  models: readonly ModelConfig[],
  providers: readonly ProviderConfig[],
): Promise<void> {
  const existing = await context.transaction.selectFrom("models").selectAll().execute();
  const byName = new Map(existing.map((row) => [row.name, row]));
  const kinds = new Map(providers.map((provider) => [provider.id, provider.kind]));
  const wanted = models.map((model) => modelRow(context, model, kinds, byName.get(model.name)));
  const { create, update, vanished } = reconcile(existing, wanted, (row) => row.name);
  await insertRows(context, modelObject, create);
  for (const change of update) await updateRow(context, modelObject, change);
  await applyPrices(context, models, byName);
  await applyDeployments(context, models);
  await suspendModels(context, vanished);
}

/** A model that others, made elsewhere, fall back to is handed over instead of suspended. */
async function suspendModels(context: ApplyContext, vanished: readonly ModelRow[]): Promise<void> {
  if (vanished.length === 0) return;
  const gone = new Set(vanished.map((row) => row.name));
  const leaning = await modelsLeaningOn(context.transaction, gone);
  // What is handed over keeps its own fallbacks too.
  let held: string[];
  do {
    held = leaning.flatMap(({ name, fallbacks }) => (gone.has(name) ? [] : fallbacks)).filter((name) => gone.has(name));
    for (const name of held) gone.delete(name);
  } while (held.length > 0);
  for (const row of vanished) {
    if (gone.has(row.name)) await suspendRows(context, modelObject, [row]);
    else await updateRow(context, modelObject, { before: row, after: { ...row, managed_by: "console" } });
  }
}

/**
 * A changed price becomes a new version; the old one stays, since entries were paid by it. A next price whose time has come is the
 * price, as long as the file says it.
 */
async function applyPrices(
  context: ApplyContext,
  models: readonly ModelConfig[],
  byName: ReadonlyMap<string, ModelRow>,
): Promise<void> {
  const prices = await pricesInForce(context.transaction, context.at);
  for (const model of models) {
    const before = byName.has(model.name) ? (prices.get(model.name) ?? noPrices) : noPrices;
    const { next_price: next } = model;
    const from = next === undefined ? null : Date.parse(next.from);
    const isDue = from !== null && from <= context.at;
    const price = isDue ? next?.price : model.price;
    // A file that says nothing of a price leaves one that was taken from the price list.
    const keepsPriceList = price === undefined && (before.inForce ?? before.next)?.origin === "catalogue";
    if (!keepsPriceList) await setPrice(context, model.name, before, price ?? null);
    if (next !== undefined && from !== null && !isDue) await setPriceOver(context, model.name, next.price, { from });
    else if (before.next !== null && !keepsPriceList) await dropNextPrice(context, model.name);
  }
}
