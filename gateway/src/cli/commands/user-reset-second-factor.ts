import type { Command } from "commander";
import { CommandFailed } from "../command-failed.ts";
import { auditSource, withControl } from "../open.ts";
import { report } from "../report.ts";
import type { Terminal } from "../terminal.ts";

export function addUserResetSecondFactor(user: Command, terminal: Terminal): void {
  user
    .command("reset-second-factor")
    .description("take a lost authenticator app and its backup codes from a user, and end their sessions")
    .argument("<email>", "the user")
    .option("--passkeys", "all their passkeys go too")
    .action(async (email: string, options: { readonly passkeys?: true }, command: Command) => {
      const passkeys = options.passkeys === true;
      const after = await withControl(terminal.variables, async ({ people }) => {
        const found = await people.userByEmail(email);
        if (found === null) throw new CommandFailed(`there is no user ${JSON.stringify(email)}`);
        return await people.resetSecondFactor(found.id, { passkeys }, auditSource);
      });
      const shown = { id: after.id, email: after.email, two_factor: after.two_factor, passkeys: after.passkeys };
      const gone = passkeys ? "their second factor and passkeys are gone" : "their second factor is gone";
      await report(terminal, command, shown, [`${after.email} signs in without it now: ${gone}, their sessions ended`]);
    });
}
