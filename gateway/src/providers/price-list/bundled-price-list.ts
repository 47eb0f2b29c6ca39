import { type ConfigSnapshot, type Deployment, type Model, oncePerObject } from "#core/index.ts";
import type { StoredPriceList } from "#ports/index.ts";
import { hasPriceList, priceListModel } from "./price-list.ts";
import { type PriceListData, readPriceList } from "./read-price-list.ts";

let read: PriceListData | null = null;
/** The stored price list that was read last, by its digest. */
let lastStored: { readonly digest: string; readonly data: PriceListData } | null = null;

/** `stored` null: it came with the program. */
export interface PriceListInUse {
  readonly data: PriceListData;
  readonly stored: StoredPriceList | null;
}

/** The price list in use: what was taken from elsewhere, unless what comes with the program was published since. */
export async function priceListData(stored: StoredPriceList | null): Promise<PriceListInUse> {
  const bundled = await bundledPriceList();
  let inUse: PriceListInUse = { data: bundled, stored: null };
  if (stored !== null && (bundled.publishedAt ?? 0) <= stored.takenAt) {
    if (lastStored?.digest !== stored.digest) lastStored = { digest: stored.digest, data: readPriceList(stored.text) };
    inUse = { data: lastStored.data, stored };
  }
  lastSince = priceListSince(inUse);
  return inUse;
}

/** When its data was published, or else taken, Unix milliseconds; null: neither is known. */
export function priceListSince({ data, stored }: PriceListInUse): number | null {
  return data.publishedAt ?? stored?.takenAt ?? null;
}

let lastSince: number | null = null;

/** The same of the price list that this process used last; null: it has used none. */
export function lastPriceListSince(): number | null {
  return lastSince;
}

/** The price list that comes with the program, loaded when it is first needed. */
export async function bundledPriceList(): Promise<PriceListData> {
  if (read === null) {
    const { default: text } = await import("./bundled-price-list.generated.json", { with: { type: "text" } });
    read = readPriceList(text as unknown as string);
  }
  return read;
}

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
const windowsOf = oncePerObject((_: PriceListData) => new Map<string, number | null>());

function windowIn(data: PriceListData, { provider: { kind }, upstreamModel }: Deployment): number | null {
  const known = windowsOf(data);
  const name = `${kind}\n${upstreamModel}`;
  let window = known.get(name);
  if (window === undefined) {
    window = priceListModel(data, kind, upstreamModel)?.model.contextWindow ?? null;
    known.set(name, window);
  }
  return window;
}
