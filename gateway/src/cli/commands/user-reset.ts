import type { Command } from "commander";
import { CommandFailed } from "../command-failed.ts";
import {
  type PasswordOptions,
  passwordFileOption,
  passwordHashOf,
  passwordLink,
  passwordStdinOption,
} from "../new-password.ts";
import { auditSource, environmentOf, withControl } from "../open.ts";
import { report } from "../report.ts";
import type { Terminal } from "../terminal.ts";
import { userNamed } from "../user-keys.ts";
import { linkLines } from "./user-create.ts";

export function addUserReset(user: Command, terminal: Terminal): void {
  user
    .command("reset")
    .description("give a user a new password, or print a link by which they set one")
    .argument("<email>", "the user")
    .option(...passwordFileOption)
    .option(...passwordStdinOption)
    .action(async (email: string, options: PasswordOptions, command: Command) => {
      const environment = await environmentOf(terminal.variables);
      const { found, link } = await withControl(terminal.variables, async (control) => {
        const { people } = control;
        const found = await userNamed(people, email);
        if (found.disabled) throw new CommandFailed(`${found.email} is disabled; see \`sluice user enable\``);
        const passwordHash = await passwordHashOf(options, terminal);
        if (passwordHash === null) return { found, link: await passwordLink(control, found.id, environment) };
        await people.setPassword(found.id, passwordHash, auditSource);
        return { found, link: null };
      });
      const { id } = found;
      const data = { id, email: found.email, ...(link && { link: link.link, expires_at: link.expiresAt }) };
      const lines =
        link === null
          ? [`${found.email} has the new password; their sessions ended`]
          : [`${found.email} may set a new password; the old one holds until then.`, ...linkLines(link)];
      await report(terminal, command, data, lines);
    });
}
