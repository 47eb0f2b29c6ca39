import { agentsBounds } from "./bounds/agents-bounds.ts";
import { assetsBounds } from "./bounds/assets-bounds.ts";
import { consoleBounds } from "./bounds/console-bounds.ts";
import { filesBounds } from "./bounds/files-bounds.ts";
import { leasesBounds } from "./bounds/leases-bounds.ts";
import { ledgerBounds } from "./bounds/ledger-bounds.ts";
import { limitsBounds } from "./bounds/limits-bounds.ts";
import { requestsBounds } from "./bounds/requests-bounds.ts";
import { scimBounds } from "./bounds/scim-bounds.ts";
import { signInBounds } from "./bounds/sign-in-bounds.ts";
import { startBounds } from "./bounds/start-bounds.ts";
import { storageBounds } from "./bounds/storage-bounds.ts";
import { tasksBounds } from "./bounds/tasks-bounds.ts";
import { telemetryBounds } from "./bounds/telemetry-bounds.ts";
import { upstreamBounds } from "./bounds/upstream-bounds.ts";
import { workersBounds } from "./bounds/workers-bounds.ts";

/** Limits that several modules share. Sizes in bytes, times in milliseconds. */
export const bounds = {
  ...requestsBounds,
  ...upstreamBounds,
  ...ledgerBounds,
  ...limitsBounds,
  ...startBounds,
  ...storageBounds,
  ...tasksBounds,
  ...assetsBounds,
  ...filesBounds,
  ...consoleBounds,
  ...signInBounds,
  ...scimBounds,
  ...leasesBounds,
  ...workersBounds,
  ...agentsBounds,
  ...telemetryBounds,
} as const;
