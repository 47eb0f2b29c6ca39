import type { Command } from "commander";
import { withControl } from "../open.ts";
import { columns, report } from "../report.ts";
import type { Terminal } from "../terminal.ts";
import { everyWorkspace } from "../workspace-named.ts";
import { workspaceView } from "../workspace-view.ts";

export function addWorkspaceList(workspace: Command, terminal: Terminal): void {
  workspace
    .command("list")
    .description("show workspaces and their groups")
    .action(async (_options: object, command: Command) => {
      const workspaces = await withControl(terminal.variables, async ({ controlStore }) => {
        const views: Awaited<ReturnType<typeof workspaceView>>[] = [];
        for (const each of await everyWorkspace(controlStore)) views.push(await workspaceView(controlStore, each));
        return views;
      });
      const rows = workspaces.map(({ slug, name, groups, keys, managed_by }) => [
        slug,
        name,
        groups.join(", "),
        String(keys),
        managed_by,
      ]);
      const lines =
        rows.length === 0 ? ["no workspaces"] : columns([["SLUG", "NAME", "GROUPS", "KEYS", "MANAGED BY"], ...rows]);
      await report(terminal, command, { workspaces }, lines);
    });
}
