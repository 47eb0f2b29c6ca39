import { createHash } from "node:crypto";
import type { ConsoleCatalogue } from "@sluice/contract";
import type { Clock, ControlStore, StoredCatalogue } from "#ports/index.ts";
import {
  type CatalogueData,
  catalogueData,
  type PriceChange,
  type PriceSource,
  priceChanges,
  priceSource,
} from "#providers/index.ts";

export interface CatalogueDependencies {
  readonly controlStore: Pick<ControlStore, "storedCatalogue" | "listModels" | "listProviders">;
  readonly clock: Pick<Clock, "now">;
}

/** The catalogue of prices that is in use, as it stands now. */
export interface CatalogueInUse {
  readonly data: CatalogueData;
  readonly stored: Omit<StoredCatalogue, "text"> | null;
  readonly prices: PriceSource;
}

export async function catalogueInUse({ controlStore, clock }: CatalogueDependencies): Promise<CatalogueInUse> {
  const stored = await controlStore.storedCatalogue();
  const data = await catalogueData(stored);
  return { data, stored, prices: priceSource(data, stored !== null, clock.now()) };
}

/** What the catalogue would change now, and what it is. */
export async function catalogueView(
  dependencies: CatalogueDependencies,
): Promise<{ readonly view: ConsoleCatalogue; readonly changes: readonly PriceChange[] }> {
  const { data, stored, prices } = await catalogueInUse(dependencies);
  const models = await dependencies.controlStore.listModels();
  const providers = await dependencies.controlStore.listProviders();
  const owners = new Map(models.map(({ name, managedBy }) => [name, managedBy]));
  const changes = priceChanges(models, new Map(providers.map(({ id, kind }) => [id, kind])), prices);
  const view: ConsoleCatalogue = {
    source: stored?.source ?? data.source ?? "",
    taken_at: stored?.takenAt ?? null,
    digest: stored?.digest ?? null,
    models: [...data.providers.values()].reduce((sum, provider) => sum + provider.models.length, 0),
    changes: changes.map(({ model, provider, upstreamModel, before, after }) => ({
      model,
      provider,
      upstream_model: upstreamModel,
      managed_by: owners.get(model) ?? "console",
      before,
      after,
    })),
    version: versionOf(changes),
  };
  return { view, changes };
}

function versionOf(changes: readonly PriceChange[]): string {
  return createHash("sha256").update(JSON.stringify(changes)).digest("hex");
}
