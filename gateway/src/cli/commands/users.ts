import type { ConsoleUser, LeaverKeys } from "@sluice/contract";
import type { Command } from "commander";
import { Failure, type Grant } from "#core/index.ts";
import type { PeopleStore } from "#directory/index.ts";
import { CommandFailed, CommandWrong } from "../command-failed.ts";
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
import { columns, report } from "../report.ts";
import type { Terminal } from "../terminal.ts";
import { workspaceNamed } from "./workspaces.ts";

export function addUsers(program: Command, terminal: Terminal): void {
  const user = program
    .command("user")
    .description("create, list, disable and delete users, and help those who cannot sign in");
  addUserCreate(user, terminal);
  addUserList(user, terminal);
  addUserDisable(user, terminal);
  addUserEnable(user, terminal);
  addUserRemove(user, terminal);
  addUserReset(user, terminal);
  addUserResetSecondFactor(user, terminal);
}

interface UserCreateOptions extends GrantOptions, PasswordOptions {
  readonly name?: string;
}

function addUserCreate(user: Command, terminal: Terminal): void {
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
      const data = { ...newUserView(made), ...(link === null ? {} : { link: link.link, expires_at: link.expiresAt }) };
      const holds = role === null ? "an administrator" : `${role} of ${options.workspace}`;
      await report(terminal, command, data, [`made ${made.email}, ${holds} (${made.id})`, ...linkLines(link)]);
    });
}

/** What a person is told of a link to a new password; nothing where there is none. */
function linkLines(link: PasswordLink | null): readonly string[] {
  if (link === null) return [];
  const until = new Date(link.expiresAt).toISOString();
  return [
    `They set a password by this link, once, until ${until}. It is shown this once and kept nowhere:`,
    "",
    link.link,
  ];
}

function newUserView({ id, email, name, administrator, workspaces }: ConsoleUser) {
  return { id, email, name, administrator, workspaces };
}

function addUserList(user: Command, terminal: Terminal): void {
  user
    .command("list")
    .description("list who may open the console, with what they hold")
    .action(async (_options: unknown, command: Command) => {
      const users = await withControl(terminal.variables, ({ people }) => everybody(people));
      const rows = users.map((each) => [each.email, each.id, holds(each), each.disabled ? "disabled" : ""]);
      const lines = users.length === 0 ? ["no users yet"] : columns([["E-MAIL", "ID", "HOLDS", ""], ...rows]);
      await report(terminal, command, { users }, lines);
    });
}

async function everybody(people: PeopleStore): Promise<readonly ConsoleUser[]> {
  const users: ConsoleUser[] = [];
  let cursor: string | null = null;
  do {
    const page = await people.listUsers(null, cursor, 200);
    users.push(...page.data);
    cursor = page.next;
  } while (cursor !== null);
  return users;
}

function holds({ administrator, workspaces }: ConsoleUser): string {
  const roles = workspaces.map(({ slug, role }) => `${role} of ${slug}`);
  return [...(administrator ? ["administrator"] : []), ...roles].join(", ") || "nothing";
}

function addUserDisable(user: Command, terminal: Terminal): void {
  user
    .command("disable")
    .description("stop a user: no sign-in, no session, no admin token, from now on")
    .argument("<email>", "the user")
    .option(keysOption, keysHelp)
    .action(async (email: string, options: { readonly keys?: string }, command: Command) => {
      const after = await withControl(terminal.variables, async ({ people }) => {
        const { id } = await userNamed(people, email);
        const keys = (await keysSaid(people, options.keys)) ?? undefined;
        return await withKeysAsked(() => people.updateUser(id, { disabled: true, keys }, auditSource));
      });
      await report(terminal, command, afterView(after), [
        `${after.email} is disabled: signed out, and can no longer sign in`,
      ]);
    });
}

function addUserEnable(user: Command, terminal: Terminal): void {
  user
    .command("enable")
    .description("let a disabled user sign in again; keys that were disabled stay so")
    .argument("<email>", "the user")
    .action(async (email: string, _options: unknown, command: Command) => {
      const after = await withControl(terminal.variables, async ({ people }) =>
        people.updateUser((await userNamed(people, email)).id, { disabled: false }, auditSource),
      );
      await report(terminal, command, afterView(after), [`${after.email} may sign in`]);
    });
}

function addUserRemove(user: Command, terminal: Terminal): void {
  user
    .command("remove")
    .description("remove a user with all they sign in with, or from one workspace only")
    .argument("<email>", "the user")
    .option("--workspace <slug>", "only from this workspace")
    .option(keysOption, keysHelp)
    .action(
      async (email: string, options: { readonly workspace?: string; readonly keys?: string }, command: Command) => {
        const removed = await withControl(terminal.variables, async ({ people }) => {
          const found = await userNamed(people, email);
          const keys = await keysSaid(people, options.keys);
          const { workspace } = options;
          if (workspace === undefined) {
            await withKeysAsked(() => people.removeUser(found.id, keys, auditSource));
          } else {
            const place = placeOf(found, workspace);
            await withKeysAsked(() => people.removeMember(place, found.id, { keys }, auditSource));
          }
          return found;
        });
        const from = options.workspace === undefined ? "removed" : `no longer a member of ${options.workspace}`;
        const answer = { id: removed.id, email: removed.email, workspace: options.workspace ?? null, removed: true };
        await report(terminal, command, answer, [`${removed.email} is ${from}`]);
      },
    );
}

function placeOf({ email, workspaces }: ConsoleUser, slug: string): string {
  const place = workspaces.find((each) => each.slug === slug);
  if (place !== undefined) return place.id;
  throw new CommandFailed(`${email} is no member of ${JSON.stringify(slug)}`);
}

function afterView({ id, email, administrator, disabled }: ConsoleUser) {
  return { id, email, administrator, disabled };
}

function addUserReset(user: Command, terminal: Terminal): void {
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

function addUserResetSecondFactor(user: Command, terminal: Terminal): void {
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

/** How an option says what becomes of somebody's keys. */
const keysOption = "--keys <what>";
const keysHelp = "what becomes of their API keys: revoke, disable, or hand-over:<e-mail>";

export async function userNamed(people: PeopleStore, email: string): Promise<ConsoleUser> {
  const found = await people.userByEmail(email);
  if (found === null) throw new CommandFailed(`there is no user ${JSON.stringify(email)}; see \`sluice user list\``);
  return found;
}

/** null: the option was not given. */
async function keysSaid(people: PeopleStore, text: string | undefined): Promise<LeaverKeys | null> {
  if (text === undefined) return null;
  if (text === "revoke" || text === "disable") return text;
  const email = /^hand-over:(.+)$/.exec(text)?.[1];
  if (email === undefined) throw new CommandWrong(`--keys is revoke, disable or hand-over:<e-mail>, not ${text}`);
  return { hand_over_to: (await userNamed(people, email)).id };
}

/** The store speaks of the field of the admin API; somebody at a terminal has an option. */
async function withKeysAsked<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof Failure) || thrown.code !== "missing_required_parameter") throw thrown;
    const [who] = thrown.message.split(" Say what");
    throw new CommandFailed(`${who} Say what becomes of them: --keys revoke, disable or hand-over:<e-mail>`);
  }
}
