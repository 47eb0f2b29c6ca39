import type { Command } from "commander";
import { CommandFailed } from "../command-failed.ts";
import { keyState, keyView, shownSecret } from "../key-view.ts";
import { withControl } from "../open.ts";
import { columns, report } from "../report.ts";
import type { Terminal } from "../terminal.ts";

export function addKeyList(key: Command, terminal: Terminal): void {
  key
    .command("list")
    .description("show keys, without their secrets")
    .option("--workspace <slug>", "only those of this workspace")
    .action(async (options: { readonly workspace?: string }, command: Command) => {
      await withControl(terminal.variables, async ({ controlStore, clock }) => {
        const { workspace = null } = options;
        if (workspace !== null && !(await controlStore.listWorkspaces()).some(({ slug }) => slug === workspace)) {
          throw new CommandFailed(`there is no workspace called ${workspace}`);
        }
        const keys = await controlStore.listKeys(workspace);
        const rows = keys.map((each) => [
          each.id,
          `${each.workspaceSlug}/${each.groupName}`,
          each.name,
          shownSecret(each),
          keyState(each, clock.now()),
          each.managedBy,
        ]);
        const lines =
          keys.length === 0
            ? ["no keys"]
            : columns([["ID", "GROUP", "NAME", "SECRET", "STATE", "MANAGED BY"], ...rows]);
        await report(terminal, command, { keys: keys.map(keyView) }, lines);
      });
    });
}
