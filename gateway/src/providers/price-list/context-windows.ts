import type { ConfigSnapshot, Deployment, Model } from "#core/index.ts";
import type { StoredPriceList } from "#ports/index.ts";
import { priceListData } from "./bundled-price-list.ts";
import { hasPriceList, priceListModel } from "./price-list.ts";
import type { PriceListData } from "./read-price-list.ts";

/**
 * The same config snapshot with the context windows that the price list knows, where the configuration names none. The
 * price list is not loaded while no provider of the installation stands in it.
 */
export async function withContextWindows(
  configSnapshot: ConfigSnapshot,
  storedPriceList: () => Promise<StoredPriceList | null>,
): Promise<ConfigSnapshot> {
  const isUnknown = ({ contextWindow, provider }: Deployment) => contextWindow === null && hasPriceList(provider.kind);
  const models = [...configSnapshot.models.values()];
  if (!models.some(({ deployments }) => deployments.some(isUnknown))) return configSnapshot;
  const { data } = await priceListData(await storedPriceList());
  const filled = models.map((model): [string, Model] => {
    const deployments = model.deployments.map((each) =>
      isUnknown(each) ? Object.freeze({ ...each, contextWindow: windowIn(data, each) }) : each,
    );
    const known = deployments.flatMap(({ contextWindow }) => contextWindow ?? []);
    const contextWindow = model.contextWindow ?? (known.length === 0 ? null : Math.max(...known));
    return [model.name, Object.freeze({ ...model, deployments: Object.freeze(deployments), contextWindow })];
  });
  return Object.freeze({ ...configSnapshot, models: new Map(filled) });
}

/** Remembered, because every change of the configuration asks for all models again. */
const windows = new WeakMap<PriceListData, Map<string, number | null>>();

function windowIn(data: PriceListData, { provider: { kind }, upstreamModel }: Deployment): number | null {
  let known = windows.get(data);
  if (known === undefined) {
    known = new Map();
    windows.set(data, known);
  }
  const name = `${kind}\n${upstreamModel}`;
  let window = known.get(name);
  if (window === undefined) {
    window = priceListModel(data, kind, upstreamModel)?.model.contextWindow ?? null;
    known.set(name, window);
  }
  return window;
}
