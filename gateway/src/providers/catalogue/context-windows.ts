import type { Catalog, Deployment, Model } from "#core/index.ts";
import type { StoredCatalogue } from "#ports/index.ts";
import { catalogueData } from "./bundled-catalogue.ts";
import { catalogueModel, hasCatalogue } from "./catalogue.ts";
import type { CatalogueData } from "./read-catalogue.ts";

/**
 * The same catalog with the context windows that the catalogue of prices knows, where the configuration names none. The
 * catalogue is not loaded while no provider of the installation stands in it.
 */
export async function withContextWindows(
  catalog: Catalog,
  storedCatalogue: () => Promise<StoredCatalogue | null>,
): Promise<Catalog> {
  const isUnknown = ({ contextWindow, provider }: Deployment) => contextWindow === null && hasCatalogue(provider.kind);
  const models = [...catalog.models.values()];
  if (!models.some(({ deployments }) => deployments.some(isUnknown))) return catalog;
  const { data } = await catalogueData(await storedCatalogue());
  const filled = models.map((model): [string, Model] => {
    const deployments = model.deployments.map((each) =>
      isUnknown(each) ? Object.freeze({ ...each, contextWindow: windowIn(data, each) }) : each,
    );
    const known = deployments.flatMap(({ contextWindow }) => contextWindow ?? []);
    const contextWindow = model.contextWindow ?? (known.length === 0 ? null : Math.max(...known));
    return [model.name, Object.freeze({ ...model, deployments: Object.freeze(deployments), contextWindow })];
  });
  return Object.freeze({ ...catalog, models: new Map(filled) });
}

/** Remembered, because every change of the configuration asks for all models again. */
const windows = new WeakMap<CatalogueData, Map<string, number | null>>();

function windowIn(data: CatalogueData, { provider: { kind }, upstreamModel }: Deployment): number | null {
  let known = windows.get(data);
  if (known === undefined) {
    known = new Map();
    windows.set(data, known);
  }
  const name = `${kind}\n${upstreamModel}`;
  let window = known.get(name);
  if (window === undefined) {
    window = catalogueModel(data, kind, upstreamModel)?.model.contextWindow ?? null;
    known.set(name, window);
  }
  return window;
}
