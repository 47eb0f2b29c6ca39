import { type Asset, bounds } from "#core/index.ts";
import type { AssetsHouse } from "./house.ts";
import { isRefusal, type Refusal, refusedForNow } from "./refusal.ts";
import { type TakenIn, takeIn } from "./take-in.ts";
import type { UnusedBlobs } from "./unused-blobs.ts";

/**
 * One pass over an asset of our own platform. The due time that the lease wrote is the pass's token: when the row no
 * longer has it, somebody else is at work or the asset was deleted, and what this pass brought is let go of.
 */
export async function workLocally(
  leased: Asset,
  leaseUntil: number,
  parts: { readonly house: AssetsHouse; readonly unused: UnusedBlobs },
  signal: AbortSignal,
): Promise<void> {
  const { house, unused } = parts;
  const result = await takeIn(leased, house, (hash) => unused.drop(hash), signal);
  const now = house.clock.now();
  const row = await house.store.findAsset(leased.workspaceId, leased.id);
  if (row === null || row.status !== "Processing" || row.dueAt !== leaseUntil) {
    if (!isRefusal(result)) await unused.drop(result.blob.hash);
    return;
  }
  if (!isRefusal(result)) return activate(row, result, parts);
  // A pass that was stopped has found out nothing: the next process begins again, at once.
  if (signal.aborted) return house.store.updateAsset(row.id, { dueAt: now });
  await refuse(row, result, house);
}

async function activate(
  row: Asset,
  { blob, contentType }: TakenIn,
  { house, unused }: { readonly house: AssetsHouse; readonly unused: UnusedBlobs },
): Promise<void> {
  const kept = await unused.keep(blob.hash, () =>
    house.store.updateAsset(row.id, {
      status: "Active",
      error: null,
      blobHash: blob.hash,
      sizeBytes: blob.size,
      contentType,
      updatedAt: house.clock.now(),
      dueAt: null,
    }),
  );
  if (!kept) await refuse(row, refusedForNow("storage_failed", "The bytes could not be kept."), house);
}

/** Tries are not counted but measured by the asset's age, so that a restart neither forgets nor repeats them. */
async function refuse(row: Asset, refusal: Refusal, house: AssetsHouse): Promise<void> {
  const now = house.clock.now();
  const ageMs = Math.max(0, now - row.createdAt);
  if (refusal.again && ageMs < bounds.assetGiveUpMs) {
    const waitMs = Math.min(bounds.assetRetryMsMax, Math.max(bounds.assetRetryMs, ageMs));
    const dueAt = now + Math.round(waitMs * (0.75 + house.chance.unit() / 2));
    return house.store.updateAsset(row.id, { dueAt });
  }
  await house.store.updateAsset(row.id, {
    status: "Failed",
    error: { code: refusal.code, message: refusal.message },
    updatedAt: now,
    dueAt: null,
  });
}
