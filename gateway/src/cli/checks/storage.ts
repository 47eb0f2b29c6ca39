import { createHash, randomBytes } from "node:crypto";
import { constants, existsSync, mkdtempSync, rmSync } from "node:fs";
import { access, stat, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { bounds, type LedgerExportPlace, within } from "#core/index.ts";
import { ledgerExportLocation } from "#directory/index.ts";
import { networkOf, openBlobs } from "#main/control.ts";
import { openLedgerObjects } from "#main/ledger-export.ts";
import type { BlobStore, Clock } from "#ports/index.ts";
import { countNotInLedger, createSpool, readJournal } from "#storage/index.ts";
import { createTransport } from "#upstream/index.ts";
import { causeLine, failureLine } from "../failure-line.ts";
import { readDatabase } from "./database.ts";
import { type Check, type Finding, fail, ok, warn } from "./finding.ts";

const mebibyte = 1024 * 1024;
const freeBytesFail = 100 * mebibyte;
const freeBytesWarn = 1024 * mebibyte;

/** Checks that the data directory is writable, its key file private, and the disk not full. */
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
    return fail(name, `${place} cannot be written`, `make it writable by ${user}, or change SLUICE_DATA_DIR`);
  }
  return ok(
    name,
    place === directory ? `${directory} can be written` : `${directory} will be created at the first start`,
  );
}

async function keyFile(directory: string, keyInEnvironment: boolean): Promise<Finding> {
  const name = "master key";
  const path = join(directory, "master.key");
  if (keyInEnvironment) return ok(name, "SLUICE_MASTER_KEY is set");
  const facts = await stat(path).catch(() => null);
  if (facts === null) return ok(name, "will be created at the first start");
  if ((facts.mode & 0o077) === 0) return ok(name, `${path} is readable by its owner only`);
  return fail(name, `${path} is readable by others (mode ${(facts.mode & 0o777).toString(8)})`, `chmod 600 ${path}`);
}

async function freeDisk(place: string): Promise<Finding> {
  const name = "free disk";
  const facts = await statfs(place);
  const free = facts.bavail * facts.bsize;
  const detail = `${Math.floor(free / mebibyte)} MiB free where the ledger is kept`;
  if (free < freeBytesFail)
    return fail(name, detail, "free some space: calls are refused when the ledger cannot be written");
  return free < freeBytesWarn ? warn(name, detail, "free some space soon, or move SLUICE_DATA_DIR") : ok(name, detail);
}

async function nearestExisting(path: string): Promise<string> {
  for (let place = path; ; place = dirname(place)) {
    if ((await stat(place).catch(() => null)) !== null || place === dirname(place)) return place;
  }
}

const recordsMax = 1_000_000;

/**
 * Checks that the journal can be read. Its last segment stays after its entries are stored, so only entries missing in the database
 * count as waiting.
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
      if (type === "check") continue;
      if (type === "intent" || type === "refuse") since = Math.min(since, value.at);
      if (type === "intent") open.add(value.attemptId);
      else if (type !== "checkpoint") {
        // The intent may be in a file that was removed.
        if (!open.delete(value.attemptId) && type === "settle") since = 0;
        // A pending one becomes a task, which writes the entry at its end.
        if (value.outcome !== "pending") ended.add(value.attemptId);
      }
      if (++records >= recordsMax) break;
    }
    const [damage] = leftovers.damage;
    if (damage !== undefined) {
      const detail = leftovers.damage.length === 1 ? damage : `${damage} (and ${leftovers.damage.length - 1} more)`;
      return [warn(name, detail, "keep the file; readable entries are recovered at the next start")];
    }
    const waiting = await readDatabase(environment, (database) => countNotInLedger(database, [...ended], since));
    return [ok(name, `${waiting ?? ended.size} entries wait for the database; ${open.size} attempts have not ended`)];
  } catch (thrown) {
    return [fail(name, failureLine(thrown), `check the owner of ${path}, and the checks of the database`)];
  }
};

/** Writes, reads and removes a small blob. */
export const blobsCheck: Check = async ({ environment, clock }) => {
  const { bucket, dataDir } = environment;
  const folder = join(dataDir, "blobs");
  const name = "blobs";
  if (bucket === null && !existsSync(folder)) return [ok(name, `${folder} will be created when it is needed`)];
  const where = bucket === null ? folder : `bucket ${bucket.name} (${bucket.endpoint ?? bucket.region})`;
  // A running gateway uses its own spool.
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
        ? "make it writable by the user of the gateway, and free some space"
        : "check SLUICE_S3_*, and that the account may get, put, delete and list";
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
    if (read === null || Buffer.compare(read, probe) !== 0) throw new Error("the bytes read differ from those written");
  } finally {
    await blobs.remove(hash);
  }
  if ((await blobs.stat(hash)) !== null) throw new Error("the blob still exists after its deletion");
}

/** Readers of such buckets skip names with an underscore. */
const probeName = "_doctor.txt";

/** Writes an object to the export bucket. Its keys may not be allowed to delete, so the object stays and is always the same one. */
export const ledgerExportCheck: Check = async ({ environment, clock }) => {
  const name = "ledger export";
  let place: LedgerExportPlace | null;
  try {
    place = await readDatabase(environment, ledgerExportLocation);
  } catch {
    return [warn(name, "failed to read the setting of the export", "see the checks of the database")];
  }
  if (place === null) return [ok(name, "disabled (settings.ledger.export is not set)")];
  const where = `bucket ${place.bucket} (${place.endpoint ?? place.region})`;
  try {
    const transport = createTransport({ clock, ...networkOf(environment) });
    const objects = openLedgerObjects(place, environment, { clock, transport });
    const probe = new TextEncoder().encode("Written by `sluice doctor`, to see that objects can be put here.\n");
    const digest = createHash("sha256").update(probe).digest("hex");
    await inTime(clock, (signal) => objects.put(probeName, probe, digest, signal));
    return [ok(name, `${where}: ${place.prefix}${probeName} was written`)];
  } catch (thrown) {
    const advice = "check settings.ledger.export and SLUICE_LEDGER_EXPORT_*, and that the account may put objects";
    return [fail(name, `${where}: ${causeLine(thrown)}`, advice)];
  }
};

/** Rejects after a time limit, even if the work ignores its signal. */
async function inTime(clock: Clock, work: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
  const late = new AbortController();
  await within(clock, bounds.doctorBlobsMs, work(late.signal), () => {
    late.abort();
    throw new Error("timed out");
  });
}
