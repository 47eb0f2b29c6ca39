import type { Command } from "commander";
import { auditSource, withControl } from "../open.ts";
import { report } from "../report.ts";
import type { Terminal } from "../terminal.ts";
import { workspaceView } from "../workspace-view.ts";

export function addWorkspaceCreate(workspace: Command, terminal: Terminal): void {
  workspace
    .command("create")
    .description("make a workspace with a group called default")
    .argument("<slug>", "lower-case letters, digits and dashes")
    .option("--name <name>", "how people call it (default: the slug)")
    .action(async (slug: string, options: { readonly name?: string }, command: Command) => {
      const made = await withControl(terminal.variables, async ({ controlStore }) => {
        const workspace = await controlStore.addWorkspace({ slug, name: options.name }, auditSource);
        return await workspaceView(controlStore, workspace);
      });
      await report(terminal, command, made, [`made workspace ${slug} (${made.id})`]);
    });
}
