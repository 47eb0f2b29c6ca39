import type { Command } from "commander";
import { actor, withControl } from "../open.ts";
import { report } from "../report.ts";
import type { Terminal } from "../terminal.ts";

export function addWorkspaceCreate(workspace: Command, terminal: Terminal): void {
  workspace
    .command("create")
    .description("make a workspace with a group called default")
    .argument("<slug>", "lower-case letters, digits and dashes")
    .option("--name <name>", "how people call it (default: the slug)")
    .action(async (slug: string, options: { readonly name?: string }, command: Command) => {
      const made = await withControl(terminal.variables, ({ controlStore }) =>
        controlStore.createWorkspace(slug, options.name ?? slug, actor),
      );
      const { managedBy, ...others } = made;
      await report(terminal, command, { ...others, managed_by: managedBy }, [`made workspace ${slug} (${made.id})`]);
    });
}
