import { type ConfigSnapshot, type Deployment, type Model, oncePerObject } from "#core/index.ts";
import type { StoredPriceList } from "#ports/index.ts";
import { hasPriceList, priceListModel } from "./price-list.ts";
import { type PriceListData, readPriceList } from "./read-price-list.ts";

let bundled: PriceListData | null = null;
/** The last stored price list, by its digest. */
let lastStored: { readonly digest: string; readonly data: PriceListData } | null = null;

/** `stored` null: the bundled list. */
export interface PriceListInUse {
  readonly data: PriceListData;
  readonly stored: StoredPriceList | null;
}

/** The stored price list, unless the bundled one is newer. */
export async function priceListData(stored: StoredPriceList | null): Promise<PriceListInUse> {
  const bundled = await bundledPriceList();
  let inUse: PriceListInUse = { data: bundled, stored: null };
  if (stored !== null && (bundled.publishedAt ?? 0) <= stored.loadedAt) {
    if (lastStored?.digest !== stored.digest) lastStored = { digest: stored.digest, data: readPriceList(stored.text) };
    inUse = { data: lastStored.data, stored };
  }
  lastDate = priceListDate(inUse);
  return inUse;
}

/** When the data was published, else when it was downloaded (Unix milliseconds). */
export function priceListDate({ data, stored }: PriceListInUse): number | null {
  return data.publishedAt ?? stored?.loadedAt ?? null;
}

let lastDate: number | null = null;

/** The date of the list that this process used last; null: none yet. */
export function lastPriceListDate(): number | null {
  return lastDate;
}

/** Loaded on first use. */
export async function bundledPriceList(): Promise<PriceListData> {
  if (bundled === null) {
    const { default: text } = await import("./bundled-price-list.generated.json", { with: { type: "text" } });
    bundled = readPriceList(text as unknown as string);
  }
  return bundled;
}

/** Adds context windows from the price list where the configuration has none. Loads the list only if a provider is in it. */
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
    const windows = deployments.flatMap(({ contextWindow }) => contextWindow ?? []);
    const contextWindow = model.contextWindow ?? (windows.length === 0 ? null : Math.max(...windows));
    return [model.name, Object.freeze({ ...model, deployments: Object.freeze(deployments), contextWindow })];
  });
  return Object.freeze({ ...configSnapshot, models: new Map(filled) });
}

/** Cached, because every config change reads all models again. */
const windowsOf = oncePerObject((_: PriceListData) => new Map<string, number | null>());

function windowIn(data: PriceListData, { provider: { kind }, upstreamModel }: Deployment): number | null {
  const windows = windowsOf(data);
  const name = `${kind}\n${upstreamModel}`;
  let window = windows.get(name);
  if (window === undefined) {
    window = priceListModel(data, kind, upstreamModel)?.model.contextWindow ?? null;
    windows.set(name, window);
  }
  return window;
}
