import { join } from "node:path";
import type { Environment } from "#config/index.ts";
import type { BlobStore, Clock, Spool, Transport } from "#ports/index.ts";
import { createBucketBlobStore, createDiskBlobStore, dataPaths, refuseOtherBlobFolder } from "#storage/index.ts";
import type { Control } from "./control.ts";

interface Parts {
  readonly clock: Clock;
  readonly transport: Transport;
  readonly spool: Spool;
}

/** Where the environment says that blobs are: a bucket, or else a folder of the data directory. */
export function openBlobs({ bucket, dataDir }: Environment, { clock, transport, spool }: Parts): BlobStore {
  if (bucket === null) return createDiskBlobStore({ directory: join(dataDir, "blobs"), clock });
  return createBucketBlobStore({
    bucket: bucket.name,
    region: bucket.region,
    prefix: bucket.prefix,
    accessKeyId: bucket.accessKeyId,
    secretAccessKey: bucket.secretAccessKey.reveal(),
    endpoint: bucket.endpoint ?? `https://s3.${bucket.region}.amazonaws.com`,
    // Whoever names an address of its own for the bucket is the operator, and may mean a machine of its own network.
    allowPrivateNetwork: bucket.endpoint !== null,
    transport,
    spool,
    clock,
  });
}

/**
 * On a server's database there may be processes of other machines, which would not find what is kept on this one's disk.
 * Throws DataUnusable where the installation's blobs are elsewhere and nobody said that each machine may have its own.
 */
export async function keepToOneBlobFolder(
  { bucket, blobs, databaseUrl, dataDir }: Environment,
  { database, ids }: Pick<Control, "database" | "ids">,
): Promise<void> {
  if (databaseUrl === null || bucket !== null || blobs === "separate") return;
  await refuseOtherBlobFolder({ directory: dataPaths(dataDir).blobs, database, ids });
}
