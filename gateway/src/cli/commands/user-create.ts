import type { ConsoleUser } from "@sluice/contract";
import type { Command } from "commander";
import type { Grant } from "#core/index.ts";
import { type GrantOptions, grantAsked, roleAsked, roleOption } from "../grant-asked.ts";
import {
  type PasswordLink,
  type PasswordOptions,
  passwordFileOption,
  passwordHashOf,
  passwordLink,
  passwordStdinOption,
} from "../new-password.ts";
import { auditSource, environmentOf, withControl } from "../open.ts";
import { report } from "../report.ts";
import type { Terminal } from "../terminal.ts";
import { workspaceNamed } from "../workspace-named.ts";

interface UserCreateOptions extends GrantOptions, PasswordOptions {
  readonly name?: string;
}

export function addUserCreate(user: Command, terminal: Terminal): void {
  user
    .command("create")
    .description("make a user; without a password a link is printed by which they set one")
    .argument("<email>", "what they sign in with")
    .option("--name <name>", "how people call them (default: the address up to its @)")
    .option("--administrator", "they govern the installation")
    .option("--workspace <slug>", "they belong to this workspace")
    .option(...roleOption)
    .option(...passwordFileOption)
    .option(...passwordStdinOption)
    .action(async (text: string, options: UserCreateOptions, command: Command) => {
      const role = roleAsked(options);
      const { readPerson } = await import("#sign-in/index.ts");
      const person = await readPerson({ email: text, name: options.name ?? text.slice(0, text.indexOf("@")) });
      const environment = await environmentOf(terminal.variables);
      const { user: made, link } = await withControl(
        terminal.variables,
        async (control) => {
          const { controlStore, people } = control;
          // Whoever types a password first and is then told of a wrong slug types it again.
          if (options.workspace !== undefined) await workspaceNamed(controlStore, options.workspace);
          const passwordHash = await passwordHashOf(options, terminal);
          const grants: readonly Grant[] = [await grantAsked(options, role, controlStore)];
          const user = await people.createUser({ ...person, passwordHash, grants }, auditSource);
          return { user, link: passwordHash === null ? await passwordLink(control, user.id, environment) : null };
        },
        { create: true },
      );
      const data = { ...shown(made), ...(link === null ? {} : { link: link.link, expires_at: link.expiresAt }) };
      const holds = role === null ? "an administrator" : `${role} of ${options.workspace}`;
      await report(terminal, command, data, [`made ${made.email}, ${holds} (${made.id})`, ...linkLines(link)]);
    });
}

/** What a person is told of a link to a new password; nothing where there is none. */
export function linkLines(link: PasswordLink | null): readonly string[] {
  if (link === null) return [];
  const until = new Date(link.expiresAt).toISOString();
  return [
    `They set a password by this link, once, until ${until}. It is shown this once and kept nowhere:`,
    "",
    link.link,
  ];
}

function shown({ id, email, name, administrator, workspaces }: ConsoleUser) {
  return { id, email, name, administrator, workspaces };
}
