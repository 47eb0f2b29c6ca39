import { type Asset, type AssetBinding, type AssetGroup, bounds, Failure, sleep, throwIfGone } from "#core/index.ts";
import type { AssetsDependencies } from "./dependencies.ts";
import type { LibraryAccount } from "./library-account.ts";

/** How long a task waits for its asset to become Active on another account. */
const assetBindMs = 30_000;
/** Assets of a group that are searched for the container it already has on an account. */
const assetSiblingsMax = 50;

/**
 * Makes an asset known to an account that does not hold it: its group and itself are created there, in the account's own
 * project, from an address that the account can fetch, and remembered. Who asks for the same thing at the same time waits for the same.
 */
export class Bindings {
  readonly #dependencies: AssetsDependencies;
  readonly #signal: AbortSignal;
  readonly #bindings = new Map<string, Promise<AssetBinding>>();
  readonly #groups = new Map<string, Promise<string>>();

  constructor(dependencies: AssetsDependencies, signal: AbortSignal) {
    this.#dependencies = dependencies;
    this.#signal = signal;
  }

  /**
   * Active there when it resolves. Throws Failure invalid_request when the library refuses the asset, upstream_timeout
   * when it is still at it after assetBindMs: the binding stays, and the next one goes on from there.
   */
  async bound(asset: Asset, account: LibraryAccount, addressOf: () => Promise<string>): Promise<AssetBinding> {
    const known = await this.#dependencies.store.binding(asset.id, account.provider.id);
    if (known?.status === "Active") return known;
    return shared(this.#bindings, `${asset.id} ${account.provider.id}`, () =>
      this.#bind(asset, account, known, addressOf),
    );
  }

  async #bind(
    asset: Asset,
    account: LibraryAccount,
    known: AssetBinding | null,
    addressOf: () => Promise<string>,
  ): Promise<AssetBinding> {
    const group = await this.#dependencies.store.findGroup(asset.workspaceId, asset.groupId);
    if (group === null) throw new Failure("asset_not_found", `There is no asset ${asset.id}.`);
    const begun = known?.status === "Processing" ? known : await this.#create(asset, group, account, addressOf);
    return this.#untilActive(begun, account);
  }

  async #create(
    asset: Asset,
    group: AssetGroup,
    account: LibraryAccount,
    addressOf: () => Promise<string>,
  ): Promise<AssetBinding> {
    const { store, clock } = this.#dependencies;
    const providerId = account.provider.id;
    const upstreamGroupId = await shared(this.#groups, `${group.id} ${providerId}`, () =>
      this.#groupOn(account, group),
    );
    const { type, name } = asset;
    const projectName = account.ownProject;
    const url = await addressOf();
    const upstreamId = await account.createAsset({ upstreamGroupId, url, type, name, projectName }, this.#signal);
    const binding: AssetBinding = {
      assetId: asset.id,
      providerId,
      upstreamGroupId,
      upstreamId,
      status: "Processing",
      updatedAt: clock.now(),
    };
    await store.bind(binding);
    return binding;
  }

  /** The container that other assets of the group already have there, or a new one. */
  async #groupOn(account: LibraryAccount, group: AssetGroup): Promise<string> {
    const { store } = this.#dependencies;
    const filter = { workspaceId: group.workspaceId, groupId: group.id };
    const { assets } = await store.assets(filter, null, assetSiblingsMax);
    for (const sibling of assets) {
      const binding = await store.binding(sibling.id, account.provider.id);
      if (binding !== null && binding.status !== "Failed") return binding.upstreamGroupId;
    }
    return account.createGroup({ ...group, projectName: account.ownProject }, this.#signal);
  }

  async #untilActive(begun: AssetBinding, account: LibraryAccount): Promise<AssetBinding> {
    const { clock, store } = this.#dependencies;
    const endMs = clock.monotonic() + assetBindMs;
    let waitMs = bounds.assetPollMs / 2;
    for (;;) {
      await sleep(clock, waitMs, this.#signal);
      throwIfGone(this.#signal);
      const seen = await account.poll(begun.upstreamId, account.ownProject, this.#signal);
      const status = seen?.status ?? "Failed";
      if (status !== "Processing") {
        const binding: AssetBinding = { ...begun, status, updatedAt: clock.now() };
        await store.bind(binding);
        if (status === "Active") return binding;
        const why = seen?.error ?? null;
        throw new Failure(
          "invalid_request",
          `The asset library of ${account.platform} does not take the asset ${begun.assetId}${why === null ? "" : ` (${why.code}: ${why.message})`}.`,
        );
      }
      if (clock.monotonic() >= endMs) {
        throw new Failure(
          "upstream_timeout",
          `The asset library of ${account.platform} is still taking the asset over.`,
          {
            retry: "other",
          },
        );
      }
      waitMs = Math.min(waitMs * 2, bounds.assetPollMs * 2);
    }
  }
}

function shared<T>(running: Map<string, Promise<T>>, key: string, begin: () => Promise<T>): Promise<T> {
  const known = running.get(key);
  if (known !== undefined) return known;
  const made = begin().finally(() => running.delete(key));
  running.set(key, made);
  return made;
}
