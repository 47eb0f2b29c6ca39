import { createReadStream } from "node:fs";
import type { ConsoleUser, LeaverKeys } from "@sluice/contract";
import { type WorkspaceRole, workspaceRoles } from "@sluice/contract/words";
import type { Environment } from "#config/index.ts";
import { bounds, Failure, type Grant, nameFromEmail } from "#core/index.ts";
import type { ControlStore, PeopleStore } from "#directory/index.ts";
import type { Control } from "#main.ts";
import { type CliCommand, everyItem, table, timeText } from "../cli-command.ts";
import { auditSource, environmentOf } from "../open.ts";
import { CommandFailed, readSecretFrom, type Terminal, UsageError } from "../terminal.ts";
import { workspaceNamed } from "./workspaces.ts";

/** Options for the rights of a user or token. */
export interface GrantOptions {
  readonly administrator?: true;
  readonly workspace?: string;
  readonly role?: string;
}

export const roleOption = ["--role <role>", `role in the workspace: ${workspaceRoles.join(", ")}`] as const;

/** A password is never an argument, because every user of the machine can read those. */
interface PasswordOptions {
  readonly passwordFile?: string;
  readonly passwordStdin?: true;
}

const passwordFileOption = ["--password-file <path>", "file with the password (one line)"] as const;
const passwordStdinOption = [
  "--password-stdin",
  "read the password from standard input, or prompt for it at a terminal",
] as const;
const keysOption = ["--keys <what>", "action for their API keys: revoke, disable, or hand-over:<email>"] as const;

interface UserCreateOptions extends GrantOptions, PasswordOptions {
  readonly name?: string;
}

export function addUsers(program: CliCommand): void {
  const { terminal } = program;
  const user = program.command("user").description("create, list, disable, delete and reset users");
  user
    .command("create")
    .description("create a user; without a password prints a link for setting one")
    .argument("<email>", "email address for sign-in")
    .option("--name <name>", "full name (default: the address up to the @)")
    .option("--administrator", "make them an administrator of the installation")
    .option("--workspace <slug>", "make them a member of this workspace")
    .option(...roleOption)
    .option(...passwordFileOption)
    .option(...passwordStdinOption)
    .hook("preAction", async (command) => {
      readRole(command.opts<UserCreateOptions>());
      await personOf(command.args[0] ?? "", command.opts<UserCreateOptions>());
    })
    .onControl(
      async (control, text: string, options: UserCreateOptions) => {
        const { controlStore, people } = control;
        const role = readRole(options);
        // Checked before the password prompt.
        const grant = await readGrant(options, controlStore);
        const passwordHash = await passwordHashOf(options, terminal);
        const person = await personOf(text, options);
        const made = await people.createUser({ ...person, passwordHash, grants: [grant] }, auditSource);
        const { id, email, name, administrator, workspaces } = made;
        const link = passwordHash === null ? await passwordLink(control, id, terminal) : null;
        const holds = role === null ? "an administrator" : `${role} of ${options.workspace}`;
        return [
          { id, email, name, administrator, workspaces, ...link },
          [`created ${email}, ${holds} (${id})`, ...linkLines(link)],
        ];
      },
      { create: true },
    );
  user
    .command("list")
    .description("list users with their roles")
    .onControl(async ({ people }) => {
      const users = await everyItem((cursor) => people.listUsers({}, cursor, 200));
      const rows = users.map((each) => [each.email, each.id, holdings(each), each.disabled ? "disabled" : ""]);
      return [{ users }, table(["EMAIL", "ID", "HOLDS", ""], rows, "no users yet")];
    });
  user
    .command("disable")
    .description("disable a user: no sign-in, no sessions, no admin tokens")
    .argument("<email>", "the user")
    .option(...keysOption)
    .onControl(async ({ people }, email: string, options: { readonly keys?: string }) => {
      const { id } = await userNamed(people, email);
      const keys = (await readLeaverKeys(people, options.keys)) ?? undefined;
      const after = await withKeysOptionHint(() => people.updateUser(id, { disabled: true, keys }, auditSource));
      return [statusOf(after), [`${after.email} is disabled and signed out`]];
    });
  user
    .command("enable")
    .description("enable a disabled user; disabled keys stay disabled")
    .argument("<email>", "the user")
    .onControl(async ({ people }, email: string) => {
      const { id } = await userNamed(people, email);
      const after = await people.updateUser(id, { disabled: false }, auditSource);
      return [statusOf(after), [`${after.email} may sign in`]];
    });
  user
    .command("remove")
    .description("delete a user, or remove them from one workspace")
    .argument("<email>", "the user")
    .option("--workspace <slug>", "from this workspace only")
    .option(...keysOption)
    .onControl(async ({ people }, email: string, options: { readonly workspace?: string; readonly keys?: string }) => {
      const { workspace } = options;
      const found = await userNamed(people, email);
      const keys = await readLeaverKeys(people, options.keys);
      const place = workspace === undefined ? null : placeOf(found, workspace);
      await withKeysOptionHint(() =>
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
    .description("set a new password, or print a link for setting one")
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
        return [{ id, email }, [`${email} has a new password; their sessions were ended`]];
      }
      const link = await passwordLink(control, id, terminal);
      const line = `${email} can set a new password; the old one stays valid until then.`;
      return [{ id, email, ...link }, [line, ...linkLines(link)]];
    });
  user
    .command("reset-second-factor")
    .description("remove the authenticator app and backup codes of a user, and end their sessions")
    .argument("<email>", "the user")
    .option("--passkeys", "also remove all passkeys")
    .onControl(async ({ people }, text: string, options: { readonly passkeys?: true }) => {
      const found = await people.userByEmail(text);
      if (found === null) throw new CommandFailed(`there is no user ${JSON.stringify(text)}`);
      const all = options.passkeys === true;
      const after = await people.resetSecondFactor(found.id, { passkeys: all }, auditSource);
      const { id, email, two_factor, passkeys } = after;
      const gone = all ? "second factor and passkeys were removed" : "second factor was removed";
      const line = `${email}: ${gone}, sessions were ended`;
      return [{ id, email, two_factor, passkeys }, [line]];
    });
}

/** null for the whole installation. Throws UsageError if the options are inconsistent. */
export function readRole({ administrator, workspace, role }: GrantOptions): WorkspaceRole | null {
  if (administrator === true) {
    if (workspace === undefined && role === undefined) return null;
    throw new UsageError("--administrator cannot be combined with --workspace and --role: it includes every workspace");
  }
  if (workspace === undefined || role === undefined) {
    throw new UsageError("set either --administrator, or --workspace and --role");
  }
  const known = workspaceRoles.find((each) => each === role);
  if (known === undefined) throw new UsageError(`--role must be one of ${workspaceRoles.join(", ")}`);
  return known;
}

export async function readGrant(options: GrantOptions, store: Pick<ControlStore, "workspaceNamed">): Promise<Grant> {
  const role = readRole(options);
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
  throw new CommandFailed(`${email} is not a member of ${JSON.stringify(slug)}`);
}

function statusOf({ id, email, administrator, disabled }: ConsoleUser) {
  return { id, email, administrator, disabled };
}

export async function userNamed(people: PeopleStore, email: string): Promise<ConsoleUser> {
  const found = await people.userByEmail(email);
  if (found === null) throw new CommandFailed(`there is no user ${JSON.stringify(email)}; see \`sluice user list\``);
  return found;
}

/** null if the option is missing. */
async function readLeaverKeys(people: PeopleStore, text: string | undefined): Promise<LeaverKeys | null> {
  if (text === undefined) return null;
  if (text === "revoke" || text === "disable") return text;
  const email = /^hand-over:(.+)$/.exec(text)?.[1];
  if (email === undefined) throw new UsageError(`--keys must be revoke, disable or hand-over:<email>, not ${text}`);
  return { hand_over_to: (await userNamed(people, email)).id };
}

/** Names the option instead of the field of the admin API. */
async function withKeysOptionHint<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof Failure) || thrown.code !== "missing_required_parameter") throw thrown;
    throw new CommandFailed(`${thrown.message} On the command line: --keys revoke, disable or hand-over:<email>`);
  }
}

/** Hash of the given password; null if none was given. */
async function passwordHashOf(options: PasswordOptions, terminal: Terminal): Promise<string | null> {
  const { passwordFile, passwordStdin } = options;
  if (passwordFile !== undefined && passwordStdin === true) {
    throw new UsageError("--password-file and --password-stdin cannot be combined");
  }
  if (passwordStdin !== true && passwordFile === undefined) return null;
  const password =
    passwordFile === undefined ? await terminal.secret("Password") : await readPasswordFile(passwordFile);
  const { checkPassword } = await import("#sign-in/index.ts");
  checkPassword(password, "password");
  const { hashPassword } = await import("#storage/index.ts");
  return await hashPassword(password);
}

const fileMs = 10_000;

async function readPasswordFile(path: string): Promise<string> {
  try {
    return await readSecretFrom(createReadStream(path, { signal: AbortSignal.timeout(fileMs) }), path);
  } catch (thrown) {
    if (thrown instanceof CommandFailed) throw thrown;
    const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "unknown cause";
    throw new CommandFailed(`${path} cannot be read (${code})`);
  }
}

/** A reset link, which works once within a day. It replaces an earlier one. */
async function passwordLink({ people, vault, clock }: Control, userId: string, terminal: Terminal) {
  const { randomBytes } = await import("node:crypto");
  const secret = randomBytes(32).toString("base64url");
  const expires_at = clock.now() + bounds.passwordResetMs;
  await people.createReset(userId, vault.digest(secret), expires_at, auditSource);
  const console = consoleAddress(await environmentOf(terminal.variables));
  return { link: `${console}/console/#reset=${secret}`, expires_at };
}

function linkLines(link: Awaited<ReturnType<typeof passwordLink>> | null): readonly string[] {
  if (link === null) return [];
  const until = timeText(link.expires_at);
  return [
    `Link for setting the password, valid once until ${until}. It is shown only once and not stored:`,
    "",
    link.link,
  ];
}

/** The configured URL of the console, or this machine's name. */
function consoleAddress({ admin, publicUrl, host, port, tls }: Environment): string {
  const configuredUrl = admin === null ? publicUrl : admin.url;
  if (configuredUrl !== null) return configuredUrl;
  const listens = admin ?? { host, port };
  const everywhere = ["0.0.0.0", "::", "127.0.0.1", "::1", "localhost"].includes(listens.host);
  const name = listens.host.includes(":") ? `[${listens.host}]` : listens.host;
  return `${tls === null ? "http" : "https"}://${everywhere ? "localhost" : name}:${listens.port}`;
}
