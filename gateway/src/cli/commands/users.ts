import { createReadStream } from "node:fs";
import type { ConsoleUser, LeaverKeys } from "@sluice/contract";
import { type WorkspaceRole, workspaceRoles } from "@sluice/contract/words";
import type { Environment } from "#config/index.ts";
import { bounds, Failure, type Grant, nameFromEmail } from "#core/index.ts";
import type { ControlStore, PeopleStore } from "#directory/index.ts";
import type { Control } from "#main.ts";
import { type CliCommand, everyItem, table, timeText } from "../cli-command.ts";
import { auditSource, environmentOf } from "../open.ts";
import { CommandFailed, CommandWrong, type Terminal } from "../terminal.ts";
import { workspaceNamed } from "./workspaces.ts";

/** What a command line says of somebody's rights. */
export interface GrantOptions {
  readonly administrator?: true;
  readonly workspace?: string;
  readonly role?: string;
}

export const roleOption = ["--role <role>", `what it may do there: ${workspaceRoles.join(", ")}`] as const;

/** How a command is told a password. It is never a word of the command line: every user of the machine can read that. */
interface PasswordOptions {
  readonly passwordFile?: string;
  readonly passwordStdin?: true;
}

const passwordFileOption = ["--password-file <path>", "the password is in this file (one line)"] as const;
const passwordStdinOption = [
  "--password-stdin",
  "the password comes on standard input; on a terminal it is asked for",
] as const;
const keysOption = ["--keys <what>", "what becomes of their API keys: revoke, disable, or hand-over:<e-mail>"] as const;

interface UserCreateOptions extends GrantOptions, PasswordOptions {
  readonly name?: string;
}

export function addUsers(program: CliCommand): void {
  const { terminal } = program;
  const user = program
    .command("user")
    .description("create, list, disable and delete users, and help those who cannot sign in");
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
    .hook("preAction", async (command) => {
      roleAsked(command.opts<UserCreateOptions>());
      await personOf(command.args[0] ?? "", command.opts<UserCreateOptions>());
    })
    .onControl(
      async (control, text: string, options: UserCreateOptions) => {
        const { controlStore, people } = control;
        const role = roleAsked(options);
        // Whoever types a password first and is then told of a wrong slug types it again.
        const grant = await grantAsked(options, controlStore);
        const passwordHash = await passwordHashOf(options, terminal);
        const person = await personOf(text, options);
        const made = await people.createUser({ ...person, passwordHash, grants: [grant] }, auditSource);
        const { id, email, name, administrator, workspaces } = made;
        const link = passwordHash === null ? await passwordLink(control, id, terminal) : null;
        const holds = role === null ? "an administrator" : `${role} of ${options.workspace}`;
        return [
          { id, email, name, administrator, workspaces, ...link },
          [`made ${email}, ${holds} (${id})`, ...linkLines(link)],
        ];
      },
      { create: true },
    );
  user
    .command("list")
    .description("list who may open the console, with what they hold")
    .onControl(async ({ people }) => {
      const users = await everyItem((cursor) => people.listUsers(null, cursor, 200));
      const rows = users.map((each) => [each.email, each.id, holdings(each), each.disabled ? "disabled" : ""]);
      return [{ users }, table(["E-MAIL", "ID", "HOLDS", ""], rows, "no users yet")];
    });
  user
    .command("disable")
    .description("stop a user: no sign-in, no session, no admin token, from now on")
    .argument("<email>", "the user")
    .option(...keysOption)
    .onControl(async ({ people }, email: string, options: { readonly keys?: string }) => {
      const { id } = await userNamed(people, email);
      const keys = (await keysSaid(people, options.keys)) ?? undefined;
      const after = await withKeysAsked(() => people.updateUser(id, { disabled: true, keys }, auditSource));
      return [standing(after), [`${after.email} is disabled: signed out, and can no longer sign in`]];
    });
  user
    .command("enable")
    .description("let a disabled user sign in again; keys that were disabled stay so")
    .argument("<email>", "the user")
    .onControl(async ({ people }, email: string) => {
      const { id } = await userNamed(people, email);
      const after = await people.updateUser(id, { disabled: false }, auditSource);
      return [standing(after), [`${after.email} may sign in`]];
    });
  user
    .command("remove")
    .description("remove a user with all they sign in with, or from one workspace only")
    .argument("<email>", "the user")
    .option("--workspace <slug>", "only from this workspace")
    .option(...keysOption)
    .onControl(async ({ people }, email: string, options: { readonly workspace?: string; readonly keys?: string }) => {
      const { workspace } = options;
      const found = await userNamed(people, email);
      const keys = await keysSaid(people, options.keys);
      const place = workspace === undefined ? null : placeOf(found, workspace);
      await withKeysAsked(() =>
        place === null
          ? people.removeUser(found.id, keys, auditSource)
          : people.removeMember(place, found.id, { keys }, auditSource),
      );
      const from = workspace === undefined ? "removed" : `no longer a member of ${workspace}`;
      const answer = { id: found.id, email: found.email, workspace: workspace ?? null, removed: true };
      return [answer, [`${found.email} is ${from}`]];
    });
  user
    .command("reset")
    .description("give a user a new password, or print a link by which they set one")
    .argument("<email>", "the user")
    .option(...passwordFileOption)
    .option(...passwordStdinOption)
    .onControl(async (control, text: string, options: PasswordOptions) => {
      const { people } = control;
      const { id, email, disabled } = await userNamed(people, text);
      if (disabled) throw new CommandFailed(`${email} is disabled; see \`sluice user enable\``);
      const passwordHash = await passwordHashOf(options, terminal);
      if (passwordHash !== null) {
        await people.setPassword(id, passwordHash, auditSource);
        return [{ id, email }, [`${email} has the new password; their sessions ended`]];
      }
      const link = await passwordLink(control, id, terminal);
      const line = `${email} may set a new password; the old one holds until then.`;
      return [{ id, email, ...link }, [line, ...linkLines(link)]];
    });
  user
    .command("reset-second-factor")
    .description("take a lost authenticator app and its backup codes from a user, and end their sessions")
    .argument("<email>", "the user")
    .option("--passkeys", "all their passkeys go too")
    .onControl(async ({ people }, text: string, options: { readonly passkeys?: true }) => {
      const found = await people.userByEmail(text);
      if (found === null) throw new CommandFailed(`there is no user ${JSON.stringify(text)}`);
      const all = options.passkeys === true;
      const after = await people.resetSecondFactor(found.id, { passkeys: all }, auditSource);
      const { id, email, two_factor, passkeys } = after;
      const gone = all ? "their second factor and passkeys are gone" : "their second factor is gone";
      const line = `${email} signs in without it now: ${gone}, their sessions ended`;
      return [{ id, email, two_factor, passkeys }, [line]];
    });
}

/** The role in the workspace; null: the whole installation. Throws CommandWrong when the options do not say one thing. */
export function roleAsked({ administrator, workspace, role }: GrantOptions): WorkspaceRole | null {
  if (administrator === true) {
    if (workspace === undefined && role === undefined) return null;
    throw new CommandWrong("--administrator goes without --workspace and --role: it has every workspace");
  }
  if (workspace === undefined || role === undefined) {
    throw new CommandWrong("say what it is for: --administrator, or --workspace and --role");
  }
  const known = workspaceRoles.find((each) => each === role);
  if (known === undefined) throw new CommandWrong(`--role is one of ${workspaceRoles.join(", ")}`);
  return known;
}

export async function grantAsked(options: GrantOptions, store: Pick<ControlStore, "workspaceNamed">): Promise<Grant> {
  const role = roleAsked(options);
  if (role === null) return { administrator: true };
  return { administrator: false, workspaceId: (await workspaceNamed(store, options.workspace ?? "")).id, role };
}

async function personOf(email: string, { name }: UserCreateOptions) {
  const { readPerson } = await import("#sign-in/index.ts");
  return await readPerson({ email, name: name ?? nameFromEmail(email) });
}

function holdings({ administrator, workspaces }: ConsoleUser): string {
  const roles = workspaces.map(({ slug, role }) => `${role} of ${slug}`);
  return [...(administrator ? ["administrator"] : []), ...roles].join(", ") || "nothing";
}

function placeOf({ email, workspaces }: ConsoleUser, slug: string): string {
  const place = workspaces.find((each) => each.slug === slug);
  if (place !== undefined) return place.id;
  throw new CommandFailed(`${email} is no member of ${JSON.stringify(slug)}`);
}

function standing({ id, email, administrator, disabled }: ConsoleUser) {
  return { id, email, administrator, disabled };
}

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

/** Names the option of the command line, since the failure names the field of the admin API. */
async function withKeysAsked<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof Failure) || thrown.code !== "missing_required_parameter") throw thrown;
    throw new CommandFailed(`${thrown.message} On the command line: --keys revoke, disable or hand-over:<e-mail>`);
  }
}

/** The hash of the password that was given; null: none was, and whoever it is for sets one by a link. */
async function passwordHashOf(options: PasswordOptions, terminal: Terminal): Promise<string | null> {
  const { passwordFile, passwordStdin } = options;
  if (passwordFile !== undefined && passwordStdin === true) {
    throw new CommandWrong("--password-file and --password-stdin are two ways to say one thing; leave one out");
  }
  if (passwordStdin !== true && passwordFile === undefined) return null;
  const password =
    passwordFile === undefined ? await terminal.secret("Password") : await readPasswordFile(passwordFile);
  const { checkPassword } = await import("#sign-in/index.ts");
  checkPassword(password, "password");
  const { hashPassword } = await import("#storage/index.ts");
  return await hashPassword(password);
}

const fileBytesMax = 64 * 1024;
const fileMs = 10_000;

async function readPasswordFile(path: string): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of createReadStream(path, { signal: AbortSignal.timeout(fileMs) })) {
      size += (piece as Buffer).length;
      if (size > fileBytesMax) throw new CommandFailed(`${path} is larger than ${fileBytesMax / 1024} KiB`);
      pieces.push(piece as Buffer);
    }
  } catch (thrown) {
    if (thrown instanceof CommandFailed) throw thrown;
    const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "unknown cause";
    throw new CommandFailed(`${path} cannot be read (${code})`);
  }
  return Buffer.concat(pieces)
    .toString("utf8")
    .replace(/\r?\n$/, "");
}

/** A link to a new password, which works once and a day long. An earlier one for the same user ends. */
async function passwordLink({ people, vault, clock }: Control, userId: string, terminal: Terminal) {
  const { randomBytes } = await import("node:crypto");
  const secret = randomBytes(32).toString("base64url");
  const expires_at = clock.now() + bounds.passwordResetMs;
  await people.createReset(userId, vault.digest(secret), expires_at, auditSource);
  const console = consoleAddress(await environmentOf(terminal.variables));
  return { link: `${console}/console/#reset=${secret}`, expires_at };
}

/** What a person is told of a link to a new password; nothing where there is none. */
function linkLines(link: Awaited<ReturnType<typeof passwordLink>> | null): readonly string[] {
  if (link === null) return [];
  const until = timeText(link.expires_at);
  return [
    `They set a password by this link, once, until ${until}. It is shown this once and kept nowhere:`,
    "",
    link.link,
  ];
}

/** Where a browser finds the console: what is configured, else this machine's own name. */
function consoleAddress({ admin, publicUrl, host, port, tls }: Environment): string {
  const told = admin === null ? publicUrl : admin.url;
  if (told !== null) return told;
  const listens = admin ?? { host, port };
  const everywhere = ["0.0.0.0", "::", "127.0.0.1", "::1", "localhost"].includes(listens.host);
  const name = listens.host.includes(":") ? `[${listens.host}]` : listens.host;
  return `${tls === null ? "http" : "https"}://${everywhere ? "localhost" : name}:${listens.port}`;
}
