import { join } from "node:path";
import { countNotInLedger, readJournal } from "#storage/index.ts";
import { failureLine } from "../failure-line.ts";
import { type Check, fail, ok, warn } from "./finding.ts";
import { lookAtDatabase } from "./look-at-database.ts";

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
    let records = 0;
    for await (const { type, value } of leftovers.records()) {
      if (type === "intent") open.add(value.attemptId);
      else if (type !== "checkpoint") {
        open.delete(value.attemptId);
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
    const waiting = await lookAtDatabase(environment, (database) => countNotInLedger(database, [...ended]));
    return [ok(name, `${waiting ?? ended.size} entries wait for the database; ${open.size} attempts have not ended`)];
  } catch (thrown) {
    return [fail(name, failureLine(thrown), `check the owner of ${path}, and the checks of the database`)];
  }
};
