import type { Command } from "commander";
import { CommandFailed } from "../command-failed.ts";
import { withControl } from "../open.ts";
import { report } from "../report.ts";
import type { Terminal } from "../terminal.ts";

export function addLedgerVerify(ledger: Command, terminal: Terminal): void {
  ledger
    .command("verify")
    .description("prove the books: sums, prices, counts, the journal; nothing is changed")
    .action(async (_options: object, command: Command) => {
      const found = await withControl(terminal.variables, async ({ ledgerStore, journalPath }) => {
        const { verifyLedger } = await import("#ledger/index.ts");
        const { readJournal } = await import("#storage/index.ts");
        return await verifyLedger({ store: ledgerStore, leftovers: readJournal(journalPath) });
      });
      const { entries, costNanoUsd, journal, faults } = found;
      const data = { ok: faults.length === 0, entries, cost_nano_usd: costNanoUsd, journal, faults };
      await report(terminal, command, data, [
        `${entries} entries, ${usdText(costNanoUsd)} USD; in the journal ${journal.settled} settled, ${journal.open} open`,
        ...faults.map(({ rule, detail }) => `broken: ${rule}: ${detail}`),
        ...(faults.length === 0 ? ["every rule holds"] : []),
      ]);
      if (faults.length > 0) {
        throw new CommandFailed(
          `the ledger breaks its rules in ${faults.length} ${faults.length === 1 ? "place" : "places"}`,
        );
      }
    });
}

/** Exact, however large: nine digits behind the point. */
function usdText(nanoUsd: string): string {
  const digits = nanoUsd.padStart(10, "0");
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`;
}
