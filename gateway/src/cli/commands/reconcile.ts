import { readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import { Option } from "commander";
import { nanoToUsdText } from "#core/index.ts";
import type { Control } from "#main.ts";
import type { FileKind, LineView, ShownDay } from "#reconciliation/index.ts";
import { type CliCommand, table } from "../cli-command.ts";
import { withControl } from "../open.ts";
import { CommandFailed } from "../terminal.ts";

const formats: readonly FileKind[] = ["csv", "focus", "cur", "gcp"];

/** Largest text that is compared, also after unpacking. */
const billBytesMax = 512 * 1024 * 1024;

interface ReconcileOptions {
  readonly format?: FileKind;
}

export function addReconcile(program: CliCommand): void {
  const { terminal } = program;
  program
    .command("reconcile")
    .description("compare a vendor's bill with the ledger; exits with 1 if a difference is not explained")
    .argument("<provider>", "id of a provider with a billing source")
    .argument("<file>", "the bill, perhaps compressed with gzip; it replaces earlier bills of its days")
    .addOption(new Option("--format <format>", "default: the kind of the billing source").choices(formats))
    .action(async (provider: string, file: string, options: ReconcileOptions, command: CliCommand) => {
      const text = await billIn(file);
      const days = await withControl(terminal.variables, (control) => compare(control, provider, text, options));
      const open = days.flatMap(({ day, lines }) =>
        lines.filter(({ state }) => state === "different").map((line) => ({ day, ...line })),
      );
      await command.report({ provider, days }, [
        ...days.map(summaryOf),
        ...table(
          ["DAY", "MODEL", "CLASS", "OURS", "THEIRS", "DIFFERENCE", "CAUSES"],
          open.map(cellsOf),
          "no unexplained differences",
        ),
      ]);
      if (open.length > 0)
        throw new CommandFailed(
          `the bill and the ledger differ in ${open.length} ${open.length === 1 ? "line" : "lines"}`,
        );
    });
}

async function billIn(file: string): Promise<string> {
  const bytes = await readFile(file).catch(() => null);
  if (bytes === null) throw new CommandFailed(`cannot read ${file}`);
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
  try {
    const unpacked = isPacked ? gunzipSync(bytes, { maxOutputLength: billBytesMax }) : bytes;
    if (unpacked.length <= billBytesMax) return unpacked.toString("utf8");
  } catch {
    throw new CommandFailed(`cannot unpack ${file}, or it has more than ${billBytesMax} bytes`);
  }
  throw new CommandFailed(`${file} has more than ${billBytesMax} bytes; split it by month`);
}

async function compare(control: Control, provider: string, text: string, { format }: ReconcileOptions) {
  const { createBillStore, Reconciliation } = await import("#reconciliation/index.ts");
  const { createAdjustments } = await import("#ledger/index.ts");
  const { openReports } = await import("#storage/index.ts");
  const { controlStore, database, clock, ids, ledgerStore, place } = control;
  const observer = { log: () => undefined };
  const reports = await openReports({ place, clock, observer });
  try {
    const snapshot = await controlStore.configSnapshot();
    const reconciliation = new Reconciliation({
      ...{ reports, clock, observer, vendors: null, leadership: null },
      store: createBillStore({ database, clock, ids }),
      adjustments: createAdjustments({ store: ledgerStore }),
      accounts: () => controlStore.billingAccounts(),
      configSnapshot: () => snapshot,
    });
    const { from, to } = await reconciliation.putFile(provider, text, format ?? null);
    const days: ShownDay[] = [];
    for (const { day } of await reconciliation.days(provider, from, to))
      days.push(await reconciliation.show(provider, day));
    return days;
  } finally {
    await reports.close();
  }
}

function summaryOf({ day, ourNanoUsd, theirNanoUsd, differingNanoUsd }: ShownDay): string {
  const state = differingNanoUsd === 0 ? "matched" : `${nanoToUsdText(differingNanoUsd)} USD unexplained`;
  return `${day}: ${nanoToUsdText(theirNanoUsd)} USD on the bill, ${nanoToUsdText(ourNanoUsd)} USD in the ledger, ${state}`;
}

function cellsOf(line: LineView & { readonly day: string }): readonly string[] {
  const { day, model, usageClass, ourNanoUsd, adjustedNanoUsd, theirNanoUsd, differenceNanoUsd, causes } = line;
  const amounts = [ourNanoUsd + adjustedNanoUsd, theirNanoUsd, differenceNanoUsd].map(nanoToUsdText);
  return [day, model === "" ? "-" : model, usageClass, ...amounts, causes.map(({ cause }) => cause).join(", ")];
}
