import type { Environment } from "#config/index.ts";
import { dataPaths, refuseOtherBlobFolder } from "#storage/index.ts";
import type { Control } from "./control.ts";

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
