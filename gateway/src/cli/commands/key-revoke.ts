import type { Command } from "commander";
import { keyNamed } from "../key-named.ts";
import { keyView, shownSecret } from "../key-view.ts";
import { auditSource, withControl } from "../open.ts";
import { report } from "../report.ts";
import type { Terminal } from "../terminal.ts";

export function addKeyRevoke(key: Command, terminal: Terminal): void {
  key
    .command("revoke")
    .description("end a key for good; a running gateway refuses it within two seconds")
    .argument("<key>", "its id, its name (`ci`, or `acme/ci`), or the beginning of its secret as `key list` shows it")
    .action(async (idOrPrefix: string, _options: object, command: Command) => {
      const revoked = await withControl(terminal.variables, async ({ controlStore }) => {
        const { workspace, id } = await keyNamed(controlStore, idOrPrefix);
        return await controlStore.endKey(workspace.id, id, auditSource);
      });
      await report(terminal, command, keyView(revoked), [
        `revoked ${revoked.workspace.slug}/${revoked.name} (${revoked.id}, ${shownSecret(revoked)})`,
      ]);
    });
}
