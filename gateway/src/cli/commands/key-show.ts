import type { Command } from "commander";
import { keyNamed } from "../key-named.ts";
import { keyView, shownSecret, shownState } from "../key-view.ts";
import { withControl } from "../open.ts";
import { report } from "../report.ts";
import type { Terminal } from "../terminal.ts";

export function addKeyShow(key: Command, terminal: Terminal): void {
  key
    .command("show")
    .description("show one key, without its secret")
    .argument("<key>", "its id, its name (`ci`, or `acme/ci`), or the beginning of its secret as `key list` shows it")
    .action(async (text: string, _options: object, command: Command) => {
      const found = await withControl(terminal.variables, ({ controlStore }) => keyNamed(controlStore, text));
      const view = { ...keyView(found), state: found.state, last_used_at: momentText(found.last_used_at) };
      const lines = Object.entries({ ...view, secret: shownSecret(found), state: shownState(found) }).map(
        ([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
      );
      await report(terminal, command, view, lines);
    });
}

function momentText(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
