import type { Environment } from "#config/index.ts";
import type { LedgerExportPlace } from "#core/index.ts";
import type { Clock, ObjectStore, Transport } from "#ports/index.ts";
import { createBucketObjects } from "#storage/index.ts";

/** The bucket that the ledger is copied to. Throws when its keys are not known. */
export function openLedgerObjects(
  { bucket, prefix, region, endpoint }: LedgerExportPlace,
  { ledgerExportKeys, bucket: blobs }: Pick<Environment, "ledgerExportKeys" | "bucket">,
  { transport, clock }: { readonly transport: Transport; readonly clock: Clock },
): ObjectStore {
  const keys = ledgerExportKeys ?? blobs;
  if (keys === null) throw new Error("SLUICE_LEDGER_EXPORT_ACCESS_KEY_ID and its secret are not set");
  return createBucketObjects({
    ...{ bucket, prefix, region, transport, clock },
    accessKeyId: keys.accessKeyId,
    secretAccessKey: keys.secretAccessKey.reveal(),
    endpoint: endpoint ?? `https://s3.${region}.amazonaws.com`,
    // As with the bucket of blobs: whoever names an address may mean a machine of their own network.
    allowPrivateNetwork: endpoint !== null,
  });
}
