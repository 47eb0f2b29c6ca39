import type { CliCommand } from "../cli-command.ts";
import { withControl } from "../open.ts";
import { calendarDay } from "../option-readers.ts";
import { workspaceNamed } from "./workspaces.ts";

interface FocusOptions {
  readonly from: string;
  readonly to?: string;
  readonly workspace?: string;
}

export function addExport(program: CliCommand): void {
  const { terminal } = program;
  program
    .command("export")
    .description("write costs and usage in a standard format")
    .command("focus")
    .description("write the costs of closed days (UTC) as FOCUS CSV to standard output")
    .requiredOption("--from <date>", "first day, such as 2026-11-01", calendarDay)
    .option("--to <date>", "the day after the last one (default: all closed days)", calendarDay)
    .option("--workspace <slug>", "of this workspace only")
    .action(async ({ from, to, workspace }: FocusOptions) => {
      await withControl(terminal.variables, async ({ database, controlStore, clock, ids }) => {
        const { focusCsv, focusRange } = await import("#ledger/index.ts");
        const { createFocusStore } = await import("#storage/index.ts");
        const { focusCatalogue } = await import("#admin/index.ts");
        const workspaceId = workspace === undefined ? null : (await workspaceNamed(controlStore, workspace)).id;
        const store = createFocusStore({ database, clock, newRun: () => ids.next("run_") });
        const range = await focusRange({ from, to }, store, clock.now());
        const catalogue = () => focusCatalogue({ controlStore, clock });
        for await (const piece of focusCsv({ store, range, workspaceId, catalogue })) await terminal.write(piece);
      });
    });
}
