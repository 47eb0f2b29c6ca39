import { bounds } from "../bounds.ts";
import type { Script } from "../script.ts";
import { defaultRunningMs } from "../task.ts";
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
  /** The URL that the vendor would fetch; the simulator does not. */
  readonly sourceUrl: string;
  readonly moderation: string;
  readonly script: Script;
  /** The base URL of its file. */
  readonly base: string;
  readonly createdAt: number;
  updatedAt: number;
}

export type ArkAssetStatus = "Processing" | "Active" | "Failed";

/** The library of all accounts. Bounded: the oldest items are dropped first. */
export interface ArkAssetStore {
  readonly groups: Store<AssetGroup>;
  readonly assets: Store<Asset>;
  /** Also removes the group's assets. */
  removeGroup(group: AssetGroup): void;
  /** An asset that tasks of this data-plane account may use; null if there is none. */
  usable(account: string, id: string): { readonly type: string; readonly status: ArkAssetStatus } | null;
}

interface Store<T extends { readonly id: string }> {
  put(item: T): void;
  get(id: string): T | null;
  remove(id: string): void;
  values(): Iterable<T>;
}

export function createArkAssetStore(accounts: ArkAccounts): ArkAssetStore {
  const groups = createStore<AssetGroup>(bounds.assetGroupsMax);
  const assets = createStore<Asset>(bounds.assetsMax);
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

/** Computed from its age: processing for `running_ms`, then the state that the script sets. */
export function assetStatus({ createdAt, script }: Asset, now: number): ArkAssetStatus {
  if (now < createdAt + (script.running_ms ?? defaultRunningMs)) return "Processing";
  return script.ends === undefined || script.ends === "succeeded" ? "Active" : "Failed";
}

function createStore<T extends { readonly id: string }>(max: number): Store<T> {
  const items = new Map<string, T>();
  return {
    put(item) {
      items.set(item.id, item);
      for (const oldest of items.keys()) {
        if (items.size <= max) break;
        items.delete(oldest);
      }
    },
    get: (id) => items.get(id) ?? null,
    remove: (id) => void items.delete(id),
    values: () => items.values(),
  };
}
