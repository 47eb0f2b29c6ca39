import { bounds } from "../bounds.ts";
import type { Script } from "../script.ts";
import { runningMsUsual } from "../task.ts";
import type { ArkAccounts } from "./ark-accounts.ts";

/** A group of assets, in one project of one account. Times are Unix milliseconds. */
export interface AssetGroup {
  readonly id: string;
  readonly account: string;
  readonly project: string;
  name: string;
  description: string;
  readonly type: string;
  readonly createdAt: number;
  updatedAt: number;
}

export interface Asset {
  readonly id: string;
  readonly group: AssetGroup;
  readonly type: string;
  name: string;
  /** Where it was to be fetched from; nothing fetches it here. */
  readonly sourceUrl: string;
  readonly moderation: string;
  readonly script: Script;
  /** What stands before the path of its file. */
  readonly base: string;
  readonly createdAt: number;
  updatedAt: number;
}

export type ArkAssetStatus = "Processing" | "Active" | "Failed";

/** The library of all accounts. Bounded, the oldest leave first. */
export interface ArkAssetStore {
  readonly groups: Shelf<AssetGroup>;
  readonly assets: Shelf<Asset>;
  /** With everything inside. */
  removeGroup(group: AssetGroup): void;
  /** An asset that tasks of this data-plane account may name; null when there is none. */
  usable(account: string, id: string): { readonly type: string; readonly status: ArkAssetStatus } | null;
}

interface Shelf<T extends { readonly id: string }> {
  put(item: T): void;
  get(id: string): T | null;
  remove(id: string): void;
  values(): Iterable<T>;
}

export function createArkAssetStore(accounts: ArkAccounts): ArkAssetStore {
  const groups = createShelf<AssetGroup>(bounds.assetGroupsMax);
  const assets = createShelf<Asset>(bounds.assetsMax);
  return {
    groups,
    assets,
    removeGroup(group) {
      groups.remove(group.id);
      for (const asset of assets.values()) if (asset.group === group) assets.remove(asset.id);
    },
    usable(account, id) {
      const asset = assets.get(id);
      if (asset === null || !accounts.mayUse(account, asset.group.account, asset.group.project)) return null;
      return { type: asset.type, status: assetStatus(asset, Date.now()) };
    },
  };
}

/** Computed from its age: it is processed for `running_ms`, and then as the script says. */
export function assetStatus({ createdAt, script }: Asset, now: number): ArkAssetStatus {
  if (now < createdAt + (script.running_ms ?? runningMsUsual)) return "Processing";
  return script.ends === undefined || script.ends === "succeeded" ? "Active" : "Failed";
}

function createShelf<T extends { readonly id: string }>(most: number): Shelf<T> {
  const items = new Map<string, T>();
  return {
    put(item) {
      items.set(item.id, item);
      for (const oldest of items.keys()) {
        if (items.size <= most) break;
        items.delete(oldest);
      }
    },
    get: (id) => items.get(id) ?? null,
    remove: (id) => void items.delete(id),
    values: () => items.values(),
  };
}
