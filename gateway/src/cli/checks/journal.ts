import { join } from "node:path";
import { readJournal } from "#storage/index.ts";
import { failureLine } from "../failure-line.ts";
import { type Check, fail, ok, warn } from "./finding.ts";

const recordsMax = 1_000_000;

/** The write-ahead file of the ledger can be read whole. */
export const journalCheck: Check = async ({ environment }) => {
  const path = join(environment.dataDir, "journal");
  try {
    const leftovers = readJournal(path);
    let records = 0;
    for await (const _ of leftovers.records()) {
      if (++records >= recordsMax) break;
    }
    const [damage] = leftovers.damage;
    if (damage === undefined) return [ok("journal", `${records} records are waiting or under way`)];
    const detail = leftovers.damage.length === 1 ? damage : `${damage} (and ${leftovers.damage.length - 1} more)`;
    return [warn("journal", detail, "keep the file; what can be read is recovered at the next start")];
  } catch (thrown) {
    return [fail("journal", failureLine(thrown), `check the owner of ${path}`)];
  }
};
