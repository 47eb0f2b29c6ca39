import type { Command } from "commander";
import { keyView, shownSecret, shownState } from "../key-view.ts";
import { withControl } from "../open.ts";
import { columns, report } from "../report.ts";
import type { Terminal } from "../terminal.ts";
import { workspaceNamed } from "../workspace-named.ts";

export function addKeyList(key: Command, terminal: Terminal): void {
  key
    .command("list")
    .description("show keys, without their secrets")
    .option("--workspace <slug>", "only those of this workspace")
    .action(async (options: { readonly workspace?: string }, command: Command) => {
      await withControl(terminal.variables, async ({ controlStore }) => {
        const { workspace } = options;
        const place = workspace === undefined ? null : (await workspaceNamed(controlStore, workspace)).id;
        const keys = await controlStore.listKeys(place);
        const rows = keys.map((each) => [
          each.id,
          `${each.workspace.slug}/${each.group.name}`,
          each.name,
          shownSecret(each),
          shownState(each),
          each.last_used_at === null ? "never" : new Date(each.last_used_at).toISOString().slice(0, 10),
          each.managed_by,
        ]);
        const lines =
          keys.length === 0
            ? ["no keys"]
            : columns([["ID", "GROUP", "NAME", "SECRET", "STATE", "LAST USED", "MANAGED BY"], ...rows]);
        await report(terminal, command, { keys: keys.map(keyView) }, lines);
      });
    });
}
