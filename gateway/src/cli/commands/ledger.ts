import { Option } from "commander";
import { type Outcome, withoutUndefined } from "#core/index.ts";
import type { ControlStore } from "#directory/index.ts";
import type { ExportFormat } from "#ledger/index.ts";
import type { LedgerFilter } from "#ports/index.ts";
import type { CliCommand } from "../cli-command.ts";
import { withControl } from "../open.ts";
import { pointInTime } from "../option-readers.ts";
import { CommandFailed, UsageError } from "../terminal.ts";
import { workspaceNamed } from "./workspaces.ts";

interface LedgerExportOptions {
  readonly format?: ExportFormat;
  readonly from?: number;
  readonly to?: number;
  readonly workspace?: string;
  readonly key?: string;
  readonly person?: string;
  readonly model?: string;
  readonly provider?: string;
  readonly outcome?: Outcome;
  readonly request?: string;
}

const outcomes: readonly Outcome[] = ["succeeded", "failed", "cancelled", "interrupted", "rejected"];

/** Size of an output chunk in characters. */
const pieceLength = 64 * 1024;

export function addLedger(program: CliCommand): void {
  const { terminal } = program;
  const ledger = program.command("ledger").description("verify and export the ledger");
  ledger
    .command("verify")
    .description("verify the sums, prices and counts of the ledger and the journal")
    .action(async (_options: object, command: CliCommand) => {
      const found = await withControl(terminal.variables, async ({ ledgerStore, journalPath }) => {
        const { verifyLedger } = await import("#ledger/index.ts");
        const { readJournal } = await import("#storage/index.ts");
        return await verifyLedger({ store: ledgerStore, leftovers: readJournal(journalPath) });
      });
      const { entries, costNanoUsd, journal, faults } = found;
      const data = { ok: faults.length === 0, entries, cost_nano_usd: costNanoUsd, journal, faults };
      await command.report(data, [
        `${entries} entries, ${usdText(costNanoUsd)} USD; in the journal ${journal.settled} settled, ${journal.open} open`,
        ...faults.map(({ rule, detail }) => `broken: ${rule}: ${detail}`),
        ...(faults.length === 0 ? ["no errors found"] : []),
      ]);
      if (faults.length > 0) {
        throw new CommandFailed(
          `the ledger breaks its rules in ${faults.length} ${faults.length === 1 ? "place" : "places"}`,
        );
      }
    });
  ledger
    .command("export")
    .description("write entries to standard output, newest first")
    .addOption(new Option("--format <format>", "JSON lines or CSV (default: jsonl)").choices(["jsonl", "csv"]))
    .option("--from <time>", "from this date or time", pointInTime)
    .option("--to <time>", "before this date or time", pointInTime)
    .option("--workspace <slug>", "of this workspace only")
    .option("--key <id>", "of this key only")
    .option("--person <id>", "of this user only (id)")
    .option("--model <name>", "of this model only")
    .option("--provider <id>", "of this provider only")
    .addOption(new Option("--outcome <outcome>", "attempts with this outcome only").choices(outcomes))
    .option("--request <id>", "of this request only")
    .action(async (options: LedgerExportOptions, command: CliCommand) => {
      if (command.isJson && options.format === "csv")
        throw new UsageError("--json and --format csv cannot be combined");
      await withControl(terminal.variables, async ({ controlStore, ledgerStore }) => {
        const filter = await filterOf(options, controlStore);
        const { exportEntries } = await import("#ledger/index.ts");
        let piece = "";
        for await (const line of exportEntries({ store: ledgerStore, filter, format: options.format ?? "jsonl" })) {
          piece += line;
          if (piece.length < pieceLength) continue;
          await terminal.write(piece);
          piece = "";
        }
        if (piece !== "") await terminal.write(piece);
      });
    });
}

/** Exact, with nine decimal places. */
function usdText(nanoUsd: string): string {
  const digits = nanoUsd.padStart(10, "0");
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`;
}

async function filterOf(options: LedgerExportOptions, store: ControlStore): Promise<LedgerFilter> {
  const { workspace, key, person, request, format: _format, ...rest } = options;
  const workspaceId = workspace === undefined ? undefined : (await workspaceNamed(store, workspace)).id;
  return withoutUndefined({ workspaceId, keyId: key, personId: person, requestId: request, ...rest });
}
