import { createHash } from "node:crypto";
import { bounds, type LedgerExportPlace } from "#core/index.ts";
import { ledgerExportPlace } from "#directory/index.ts";
import { networkOf } from "#main/control.ts";
import { openLedgerObjects } from "#main/ledger-export.ts";
import { createTransport } from "#upstream/index.ts";
import { causeLine } from "../failure-line.ts";
import { type Check, fail, ok, warn } from "./finding.ts";
import { lookAtDatabase } from "./look-at-database.ts";

/** Beside the manifests: readers of such buckets pass over names that begin so. */
const probeName = "_doctor.txt";
const name = "ledger export";

/**
 * The bucket that the ledger is copied to takes objects. Its keys need not be allowed to remove anything, so the probe stays, always the
 * same object.
 */
export const ledgerExportCheck: Check = async ({ environment, clock }) => {
  let place: LedgerExportPlace | null;
  try {
    place = await lookAtDatabase(environment, ledgerExportPlace);
  } catch {
    return [warn(name, "where the ledger is copied to cannot be read", "see the checks of the database")];
  }
  if (place === null) return [ok(name, "the ledger is copied nowhere (settings.ledger.export is not set)")];
  const where = `bucket ${place.bucket} (${place.endpoint ?? place.region})`;
  const late = new AbortController();
  const stop = clock.after(bounds.doctorBlobsMs, () => late.abort());
  try {
    const transport = createTransport({ clock, ...networkOf(environment) });
    const objects = openLedgerObjects(place, environment, { clock, transport });
    const probe = new TextEncoder().encode("Written by `sluice doctor`, to see that objects can be put here.\n");
    const { promise, reject } = Promise.withResolvers<never>();
    late.signal.addEventListener("abort", () => reject(new Error("it does not answer in time")), { once: true });
    const digest = createHash("sha256").update(probe).digest("hex");
    await Promise.race([objects.put(probeName, probe, digest, late.signal), promise]);
    return [ok(name, `${where}: ${place.prefix}${probeName} was written`)];
  } catch (thrown) {
    const advice = "check settings.ledger.export and SLUICE_LEDGER_EXPORT_*, and that its account may put objects";
    return [fail(name, `${where}: ${causeLine(thrown)}`, advice)];
  } finally {
    stop();
  }
};
