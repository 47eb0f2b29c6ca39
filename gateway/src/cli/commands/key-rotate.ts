import { randomBytes } from "node:crypto";
import type { Command } from "commander";
import { Secret } from "#core/index.ts";
import { keyNamed } from "../key-named.ts";
import { keyView } from "../key-view.ts";
import { auditSource, withControl } from "../open.ts";
import { graceTime } from "../option-readers.ts";
import { report } from "../report.ts";
import type { Terminal } from "../terminal.ts";

export function addKeyRotate(key: Command, terminal: Terminal): void {
  key
    .command("rotate")
    .description("give a key a new secret, which is shown once; it stays the same key otherwise")
    .argument("<key>", "its id, its name (`ci`, or `acme/ci`), or the beginning of its secret as `key list` shows it")
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
        const { workspace, id } = await keyNamed(controlStore, idOrPrefix);
        return await controlStore.rotateKey(workspace.id, id, { secret, graceMs }, auditSource);
      });
      const oldUntil = rotated.old_secret_until === null ? null : new Date(rotated.old_secret_until).toISOString();
      const data = { secret: secret.reveal(), ...keyView(rotated), old_secret_until: oldUntil };
      await report(terminal, command, data, [
        `Key ${rotated.name} of ${rotated.workspace.slug}/${rotated.group.name} (${rotated.id}) has a new secret.`,
        oldUntil === null ? "The old one no longer opens." : `The old one opens until ${oldUntil}.`,
        "The new one is shown this once and kept nowhere:",
        "",
        secret.reveal(),
      ]);
    });
}
