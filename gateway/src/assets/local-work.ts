import type { Asset } from "#core/index.ts";
import { isRefusal, type Refusal, refusedForNow } from "./asset-refusal.ts";
import type { AssetsDependencies } from "./dependencies.ts";
import { type TakenIn, takeIn } from "./take-in.ts";
import type { UnusedBlobs } from "./unused-blobs.ts";

/** Waits after a fetch that failed by its host's fault. An asset older than the last value is given up. */
const assetRetryMs = 2_000;
export const assetRetryMsMax = 30_000;
const assetGiveUpMs = 60_000;

/**
 * One pass over an asset of our own platform. The due time that the lease wrote is the pass's token: when the row no
 * longer has it, somebody else is at work or the asset was deleted, and what this pass brought is let go of.
 */
export async function workLocally(
  leased: Asset,
  leaseUntil: number,
  parts: { readonly dependencies: AssetsDependencies; readonly unused: UnusedBlobs },
  signal: AbortSignal,
): Promise<void> {
  const { dependencies, unused } = parts;
  const result = await takeIn(leased, dependencies, (hash) => unused.drop(hash), signal);
  const now = dependencies.clock.now();
  const row = await dependencies.store.findAsset(leased.workspaceId, leased.id);
  if (row === null || row.status !== "Processing" || row.dueAt !== leaseUntil) {
    if (!isRefusal(result)) await unused.drop(result.blob.hash);
    return;
  }
  if (!isRefusal(result)) return activate(row, result, parts);
  // A pass that was stopped has found out nothing: the next process begins again, at once.
  if (signal.aborted) await dependencies.store.updateAsset(row.id, { dueAt: now }, { dueAt: leaseUntil });
  else await refuse(row, result, dependencies);
}

async function activate(
  row: Asset,
  { blob, contentType }: TakenIn,
  { dependencies, unused }: { readonly dependencies: AssetsDependencies; readonly unused: UnusedBlobs },
): Promise<void> {
  const change = {
    status: "Active",
    error: null,
    blobHash: blob.hash,
    sizeBytes: blob.size,
    contentType,
    updatedAt: dependencies.clock.now(),
    dueAt: null,
  } as const;
  let held = true;
  const kept = await unused.keep(blob.hash, async () => {
    held = await dependencies.store.updateAsset(row.id, change, { dueAt: row.dueAt });
  });
  if (!held) await unused.drop(blob.hash);
  else if (!kept) await refuse(row, refusedForNow("storage_failed", "The bytes could not be kept."), dependencies);
}

/** Tries are not counted but measured by the asset's age, so that a restart neither forgets nor repeats them. */
async function refuse(row: Asset, refusal: Refusal, dependencies: AssetsDependencies): Promise<void> {
  const now = dependencies.clock.now();
  const ageMs = Math.max(0, now - row.createdAt);
  if (refusal.again && ageMs < assetGiveUpMs) {
    const waitMs = Math.min(assetRetryMsMax, Math.max(assetRetryMs, ageMs));
    const dueAt = now + Math.round(waitMs * (0.75 + dependencies.chance.unit() / 2));
    await dependencies.store.updateAsset(row.id, { dueAt }, { dueAt: row.dueAt });
    return;
  }
  const error = { code: refusal.code, message: refusal.message };
  const change = { status: "Failed", error, updatedAt: now, dueAt: null } as const;
  await dependencies.store.updateAsset(row.id, change, { dueAt: row.dueAt });
}
