import { createHash, randomBytes } from "node:crypto";
import type { Command } from "commander";
import { report } from "../report.ts";
import type { Terminal } from "../terminal.ts";

export function addTokenSecret(token: Command, terminal: Terminal): void {
  token
    .command("secret")
    .description("make a secret for an admin token of the config file, with its SHA-256; nothing is stored")
    .option("--scim", "for a directory: it may do SCIM and nothing else")
    .action(async ({ scim }: { readonly scim?: boolean }, command: Command) => {
      const { keySecretBytes, makeAdminTokenSecret, makeScimTokenSecret } = await import("#identity/index.ts");
      const make = scim === true ? makeScimTokenSecret : makeAdminTokenSecret;
      const secret = make(randomBytes(keySecretBytes));
      const secret_sha256 = createHash("sha256").update(secret).digest("hex");
      await report(terminal, command, { secret, secret_sha256 }, [
        scim === true ? "For the directory, shown this once:" : "For the script that calls, shown this once:",
        "",
        secret,
        "",
        "For the config file, under tokens:",
        "",
        `secret_sha256: ${secret_sha256}`,
      ]);
    });
}
