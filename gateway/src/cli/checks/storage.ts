import { createHash, randomBytes } from "node:crypto";
import { constants, existsSync, mkdtempSync, rmSync } from "node:fs";
import { access, stat, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { bounds, type LedgerExportPlace } from "#core/index.ts";
import { ledgerExportPlace } from "#directory/index.ts";
import { networkOf, openBlobs } from "#main/control.ts";
import { openLedgerObjects } from "#main/ledger-export.ts";
import type { BlobStore, Clock } from "#ports/index.ts";
import { countNotInLedger, createSpool, readJournal } from "#storage/index.ts";
import { createTransport } from "#upstream/index.ts";
import { causeLine, failureLine } from "../failure-line.ts";
import { lookAtDatabase } from "./database.ts";
import { type Check, type Finding, fail, ok, warn } from "./finding.ts";

const mebibyte = 1024 * 1024;
const freeBytesFail = 100 * mebibyte;
const freeBytesWarn = 1024 * mebibyte;

/** The data directory can be written, its key file is its owner's alone, and the disk has room. */
export const dataDirCheck: Check = async ({ environment }) => {
  const directory = resolve(environment.dataDir);
  const place = await nearestExisting(directory);
  const findings = [await writable(directory, place)];
  if (place === directory) findings.push(await keyFile(directory, environment.masterKey !== null));
  findings.push(await freeDisk(place));
  return findings;
};

async function writable(directory: string, place: string): Promise<Finding> {
  const name = "data directory";
  const user = `the user of the gateway (uid ${process.getuid?.() ?? "unknown"})`;
  if (!(await stat(place)).isDirectory()) {
    return fail(name, `${place} is not a directory`, "set SLUICE_DATA_DIR to a directory");
  }
  try {
    await access(place, constants.W_OK | constants.X_OK);
  } catch {
    return fail(name, `${place} cannot be written`, `give it to ${user}, or set SLUICE_DATA_DIR to another`);
  }
  return ok(name, place === directory ? `${directory} can be written` : `${directory} will be made at the first start`);
}

async function keyFile(directory: string, keyInEnvironment: boolean): Promise<Finding> {
  const name = "master key";
  const path = join(directory, "master.key");
  if (keyInEnvironment) return ok(name, "SLUICE_MASTER_KEY is set");
  const facts = await stat(path).catch(() => null);
  if (facts === null) return ok(name, "will be made at the first start");
  if ((facts.mode & 0o077) === 0) return ok(name, `${path} is readable by its owner only`);
  return fail(name, `${path} is readable by others (mode ${(facts.mode & 0o777).toString(8)})`, `chmod 600 ${path}`);
}

async function freeDisk(place: string): Promise<Finding> {
  const name = "free disk";
  const facts = await statfs(place);
  const free = facts.bavail * facts.bsize;
  const detail = `${Math.floor(free / mebibyte)} MiB free where the ledger is kept`;
  if (free < freeBytesFail)
    return fail(name, detail, "make room: without it no call can be written down, so none is sent");
  return free < freeBytesWarn ? warn(name, detail, "make room soon, or move SLUICE_DATA_DIR") : ok(name, detail);
}

async function nearestExisting(path: string): Promise<string> {
  for (let place = path; ; place = dirname(place)) {
    if ((await stat(place).catch(() => null)) !== null || place === dirname(place)) return place;
  }
}

const recordsMax = 1_000_000;

/**
 * The write-ahead file of the ledger can be read whole. Its last segment stays after its entries are in the database, so what
 * waits is what the database does not have.
 */
export const journalCheck: Check = async ({ environment }) => {
  const path = join(environment.dataDir, "journal");
  const name = "journal";
  try {
    const leftovers = readJournal(path);
    const open = new Set<string>();
    const ended = new Set<string>();
    let since = Number.POSITIVE_INFINITY;
    let records = 0;
    for await (const { type, value } of leftovers.records()) {
      if (type === "intent" || type === "refuse") since = Math.min(since, value.at);
      if (type === "intent") open.add(value.attemptId);
      else if (type !== "checkpoint") {
        // Its intent may be in a file that is gone.
        if (!open.delete(value.attemptId) && type === "settle") since = 0;
        // A pending one becomes a task and has its entry when that has ended.
        if (value.outcome !== "pending") ended.add(value.attemptId);
      }
      if (++records >= recordsMax) break;
    }
    const [damage] = leftovers.damage;
    if (damage !== undefined) {
      const detail = leftovers.damage.length === 1 ? damage : `${damage} (and ${leftovers.damage.length - 1} more)`;
      return [warn(name, detail, "keep the file; what can be read is recovered at the next start")];
    }
    const waiting = await lookAtDatabase(environment, (database) => countNotInLedger(database, [...ended], since));
    return [ok(name, `${waiting ?? ended.size} entries wait for the database; ${open.size} attempts have not ended`)];
  } catch (thrown) {
    return [fail(name, failureLine(thrown), `check the owner of ${path}, and the checks of the database`)];
  }
};

/** A few bytes that nobody has can be written where blobs are kept, read, and removed. */
export const blobsCheck: Check = async ({ environment, clock }) => {
  const { bucket, dataDir } = environment;
  const folder = join(dataDir, "blobs");
  const name = "blobs";
  if (bucket === null && !existsSync(folder)) return [ok(name, `${folder} will be made when it is needed`)];
  const where = bucket === null ? folder : `bucket ${bucket.name} (${bucket.endpoint ?? bucket.region})`;
  // A gateway may run, and its spool is its own.
  const directory = mkdtempSync(join(tmpdir(), "sluice-doctor-"));
  try {
    const spool = createSpool({ directory, nextName: () => "probe" });
    const transport = createTransport({ clock, ...networkOf(environment) });
    const blobs = openBlobs(environment, { clock, spool, transport });
    await inTime(clock, (signal) => probed(blobs, signal));
    return [ok(name, `${where}: written, read and removed`)];
  } catch (thrown) {
    const advice =
      bucket === null
        ? "give it to the user of the gateway, and make room"
        : "check SLUICE_S3_*, and that its account may get, put, delete and list";
    return [fail(name, `${where}: ${causeLine(thrown)}`, advice)];
  } finally {
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

/** Beside the manifests: readers of such buckets pass over names that begin so. */
const probeName = "_doctor.txt";

/**
 * The bucket that the ledger is copied to takes objects. Its keys need not be allowed to remove anything, so the probe stays, always the
 * same object.
 */
export const ledgerExportCheck: Check = async ({ environment, clock }) => {
  const name = "ledger export";
  let place: LedgerExportPlace | null;
  try {
    place = await lookAtDatabase(environment, ledgerExportPlace);
  } catch {
    return [warn(name, "where the ledger is copied to cannot be read", "see the checks of the database")];
  }
  if (place === null) return [ok(name, "the ledger is copied nowhere (settings.ledger.export is not set)")];
  const where = `bucket ${place.bucket} (${place.endpoint ?? place.region})`;
  try {
    const transport = createTransport({ clock, ...networkOf(environment) });
    const objects = openLedgerObjects(place, environment, { clock, transport });
    const probe = new TextEncoder().encode("Written by `sluice doctor`, to see that objects can be put here.\n");
    const digest = createHash("sha256").update(probe).digest("hex");
    await inTime(clock, (signal) => objects.put(probeName, probe, digest, signal));
    return [ok(name, `${where}: ${place.prefix}${probeName} was written`)];
  } catch (thrown) {
    const advice = "check settings.ledger.export and SLUICE_LEDGER_EXPORT_*, and that its account may put objects";
    return [fail(name, `${where}: ${causeLine(thrown)}`, advice)];
  }
};

/** Rejects after a time limit, even if the work ignores its signal. */
async function inTime(clock: Clock, work: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
  const late = new AbortController();
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = clock.after(bounds.doctorBlobsMs, () => {
    late.abort();
    reject(new Error("it does not answer in time"));
  });
  try {
    await Promise.race([work(late.signal), promise]);
  } finally {
    stop();
  }
}
