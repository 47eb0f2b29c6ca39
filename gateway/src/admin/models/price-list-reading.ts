import { createHash } from "node:crypto";
import type { ConsolePriceList } from "@sluice/contract";
import { columnsOf } from "#core/index.ts";
import type { ControlStore } from "#directory/index.ts";
import type { Clock } from "#ports/index.ts";
import {
  type PriceChange,
  type PriceListInUse,
  type PriceSource,
  priceChanges,
  priceListData,
  priceListDate,
  priceSource,
} from "#providers/index.ts";

interface PriceListDependencies {
  readonly controlStore: Pick<ControlStore, "storedPriceList" | "listModels" | "listProviders">;
  readonly clock: Pick<Clock, "now">;
}

export async function priceListInUse({
  controlStore,
  clock,
}: PriceListDependencies): Promise<PriceListInUse & { readonly prices: PriceSource }> {
  const inUse = await priceListData(await controlStore.storedPriceList());
  return { ...inUse, prices: priceSource(inUse.data, clock.now()) };
}

/** The current price list and the price changes it proposes. */
export async function priceListView(
  dependencies: PriceListDependencies,
): Promise<{ readonly view: ConsolePriceList; readonly changes: readonly PriceChange[] }> {
  const inUse = await priceListInUse(dependencies);
  const { data, stored, prices } = inUse;
  const since = priceListDate(inUse);
  const models = await dependencies.controlStore.listModels();
  const providers = await dependencies.controlStore.listProviders();
  const owners = new Map(models.map(({ name, managed_by }) => [name, managed_by]));
  const changes = priceChanges(models, new Map(providers.map(({ id, kind }) => [id, kind])), prices);
  const view: ConsolePriceList = {
    source: stored?.source ?? data.source ?? "",
    loaded_at: stored?.loadedAt ?? null,
    digest: stored?.digest ?? null,
    published_at: data.publishedAt,
    age_days: since === null ? null : Math.max(0, Math.floor((dependencies.clock.now() - since) / dayMs)),
    models: [...data.providers.values()].reduce((sum, provider) => sum + provider.models.length, 0),
    changes: changes.map((change) => ({ ...columnsOf(change), managed_by: owners.get(change.model) ?? "console" })),
    version: versionOf(changes),
  };
  return { view, changes };
}

const dayMs = 86_400_000;

function versionOf(changes: readonly PriceChange[]): string {
  return createHash("sha256").update(JSON.stringify(changes)).digest("hex");
}
