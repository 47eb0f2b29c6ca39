import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bounds } from "#core/index.ts";
import { networkOf } from "#main/network.ts";
import { openBlobs } from "#main/open-blobs.ts";
import type { BlobStore } from "#ports/index.ts";
import { createSpool } from "#storage/index.ts";
import { createTransport } from "#upstream/index.ts";
import { causeLine } from "../failure-line.ts";
import { type Check, fail, ok } from "./finding.ts";

/** A few bytes that nobody has can be written where blobs are kept, read, and removed. */
export const blobsCheck: Check = async ({ environment, clock }) => {
  const { bucket, dataDir } = environment;
  const folder = join(dataDir, "blobs");
  const name = "blobs";
  if (bucket === null && !existsSync(folder)) return [ok(name, `${folder} will be made when it is needed`)];
  const where = bucket === null ? folder : `bucket ${bucket.name} (${bucket.endpoint ?? bucket.region})`;
  // A gateway may run, and its spool is its own.
  const directory = mkdtempSync(join(tmpdir(), "sluice-doctor-"));
  const late = new AbortController();
  const stop = clock.after(bounds.doctorBlobsMs, () => late.abort());
  try {
    const spool = createSpool({ directory, nextName: () => "probe" });
    const blobs = openBlobs(environment, {
      clock,
      spool,
      transport: createTransport({ clock, ...networkOf(environment) }),
    });
    const { promise, reject } = Promise.withResolvers<never>();
    late.signal.addEventListener("abort", () => reject(new Error("it does not answer in time")), { once: true });
    await Promise.race([probed(blobs, late.signal), promise]);
    return [ok(name, `${where}: written, read and removed`)];
  } catch (thrown) {
    const advice =
      bucket === null
        ? "give it to the user of the gateway, and make room"
        : "check SLUICE_S3_*, and that its account may get, put, delete and list";
    return [fail(name, `${where}: ${causeLine(thrown)}`, advice)];
  } finally {
    stop();
    rmSync(directory, { recursive: true, force: true });
  }
};

async function probed(blobs: BlobStore, signal: AbortSignal): Promise<void> {
  const probe = randomBytes(64);
  const { hash, size } = await blobs.put(new Blob([probe]).stream(), probe.length, signal);
  try {
    const there = await blobs.read(hash, 0, size);
    const read = there === null ? null : await new Response(there).bytes();
    if (read === null || Buffer.compare(read, probe) !== 0) throw new Error("what was written is not what is read");
  } finally {
    await blobs.remove(hash);
  }
  if ((await blobs.stat(hash)) !== null) throw new Error("what was removed is still there");
}
