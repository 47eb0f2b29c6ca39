import { constants } from "node:fs";
import { access, stat, statfs } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
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
