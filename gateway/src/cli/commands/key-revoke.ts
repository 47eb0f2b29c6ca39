import type { Command } from "commander";
import { CommandFailed } from "../command-failed.ts";
import { keyView, shownSecret } from "../key-view.ts";
import { actor, withControl } from "../open.ts";
import { report } from "../report.ts";
import type { Terminal } from "../terminal.ts";

export function addKeyRevoke(key: Command, terminal: Terminal): void {
  key
    .command("revoke")
    .description("end a key for good; a running gateway refuses it within two seconds")
    .argument("<key>", "its id, or the beginning of its secret as `key list` shows it")
    .action(async (idOrPrefix: string, _options: object, command: Command) => {
      const revoked = await withControl(terminal.variables, ({ controlStore }) =>
        controlStore.revokeKey(idOrPrefix, actor),
      );
      // The argument is not repeated: somebody may have given the whole secret.
      if (revoked === null) throw new CommandFailed("there is no such key; see `sluice key list`");
      await report(terminal, command, keyView(revoked), [
        `revoked ${revoked.workspaceSlug}/${revoked.name} (${revoked.id}, ${shownSecret(revoked)})`,
      ]);
    });
}
