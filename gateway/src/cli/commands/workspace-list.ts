import type { Command } from "commander";
import { withControl } from "../open.ts";
import { columns, report } from "../report.ts";
import type { Terminal } from "../terminal.ts";

export function addWorkspaceList(workspace: Command, terminal: Terminal): void {
  workspace
    .command("list")
    .description("show workspaces and their groups")
    .action(async (_options: object, command: Command) => {
      const workspaces = await withControl(terminal.variables, ({ controlStore }) => controlStore.listWorkspaces());
      const rows = workspaces.map(({ slug, name, groups, keys, managedBy }) => [
        slug,
        name,
        groups.join(", "),
        String(keys),
        managedBy,
      ]);
      const lines =
        rows.length === 0 ? ["no workspaces"] : columns([["SLUG", "NAME", "GROUPS", "KEYS", "MANAGED BY"], ...rows]);
      const data = workspaces.map(({ managedBy, ...others }) => ({ ...others, managed_by: managedBy }));
      await report(terminal, command, { workspaces: data }, lines);
    });
}
