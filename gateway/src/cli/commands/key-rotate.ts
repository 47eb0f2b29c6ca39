import { randomBytes } from "node:crypto";
import type { Command } from "commander";
import { Secret } from "#core/index.ts";
import { CommandFailed } from "../command-failed.ts";
import { keyView } from "../key-view.ts";
import { actor, withControl } from "../open.ts";
import { graceTime } from "../option-readers.ts";
import { report } from "../report.ts";
import type { Terminal } from "../terminal.ts";

export function addKeyRotate(key: Command, terminal: Terminal): void {
  key
    .command("rotate")
    .description("give a key a new secret, which is shown once; it stays the same key otherwise")
    .argument("<key>", "its id, or the beginning of its secret as `key list` shows it")
    .option(
      "--grace <time>",
      "how long the old secret still opens, such as 30m, 24h or 7d (default: not at all)",
      graceTime,
    )
    .action(async (idOrPrefix: string, options: { readonly grace?: number }, command: Command) => {
      const { keySecretBytes, makeKeySecret } = await import("#identity/index.ts");
      const secret = new Secret(makeKeySecret(randomBytes(keySecretBytes)));
      const graceMs = options.grace ?? 0;
      const rotated = await withControl(terminal.variables, async ({ controlStore }) => {
        const found = await controlStore.keyNamed(idOrPrefix);
        // The argument is not repeated: somebody may have given the whole secret.
        if (found === null) throw new CommandFailed("there is no such key; see `sluice key list`");
        const auditSource = { actor, ip: null };
        const { old_secret_until } = await controlStore.rotateKey(
          found.workspaceId,
          found.id,
          { secret, graceMs },
          auditSource,
        );
        const listing = await controlStore.keyNamed(found.id);
        return { listing: listing ?? found, oldUntil: old_secret_until };
      });
      const { listing } = rotated;
      const oldUntil = rotated.oldUntil === null ? null : new Date(rotated.oldUntil).toISOString();
      const data = { ...keyView(listing), secret: secret.reveal(), old_secret_until: oldUntil };
      await report(terminal, command, data, [
        `Key ${listing.name} of ${listing.workspaceSlug}/${listing.groupName} (${listing.id}) has a new secret.`,
        oldUntil === null ? "The old one no longer opens." : `The old one opens until ${oldUntil}.`,
        "The new one is shown this once and kept nowhere:",
        "",
        secret.reveal(),
      ]);
    });
}
