import { createHash, randomBytes } from "node:crypto";
import type { AdminToken } from "@sluice/contract";
import type { Command } from "commander";
import type { PeopleStore } from "#directory/index.ts";
import { CommandFailed, CommandWrong } from "../command-failed.ts";
import {
  administratorOption,
  type GrantOptions,
  grantAsked,
  roleAsked,
  roleOption,
  workspaceOption,
} from "../grant-asked.ts";
import { auditSource, withControl } from "../open.ts";
import { expiry } from "../option-readers.ts";
import { columns, report } from "../report.ts";
import type { Terminal } from "../terminal.ts";
import { printToken } from "./login.ts";
import { addServiceTokens } from "./service-token.ts";
import { userNamed } from "./users.ts";

export function addTokens(program: Command, terminal: Terminal): void {
  const token = program
    .command("token")
    .description(
      "print the access token of `sluice login` (for agents); create, list and revoke admin tokens and service tokens",
    )
    .action(() => printToken(terminal));
  addTokenCreate(token, terminal);
  addTokenList(token, terminal);
  addTokenRevoke(token, terminal);
  addTokenSecret(token, terminal);
  addServiceTokens(token, terminal);
}

interface TokenCreateOptions extends GrantOptions {
  readonly name: string;
  readonly user?: string;
  readonly expires?: number;
}

function addTokenCreate(token: Command, terminal: Terminal): void {
  token
    .command("create")
    .description("make a token for scripts that use the admin API; its secret is shown once")
    .requiredOption("--name <name>", "what the token is called")
    .option("--user <email>", "whose token it is; may be left out when there is one administrator")
    .option(...administratorOption)
    .option(...workspaceOption)
    .option(...roleOption)
    .option("--expires <when>", "a time from now (12h, 90d, 8w) or a date", (text) => expiry(text, Date.now()))
    .action(async (options: TokenCreateOptions, command: Command) => {
      checkName(options.name);
      const role = roleAsked(options);
      const { adminTokenPrefix, keySecretBytes, makeAdminTokenSecret } = await import("#identity/index.ts");
      const secret = makeAdminTokenSecret(randomBytes(keySecretBytes));
      const made = await withControl(terminal.variables, async ({ people, controlStore, vault }) => {
        const owner =
          options.user === undefined ? await onlyAdministrator(people) : await userNamed(people, options.user);
        const grant = await grantAsked(options, role, controlStore);
        return await people.createToken(
          {
            name: options.name,
            grant,
            ownerId: owner.id,
            digest: vault.digest(secret),
            prefix: adminTokenPrefix(secret),
            expiresAt: options.expires ?? null,
          },
          auditSource,
        );
      });
      const place = made.workspace === null ? "the installation" : `${made.workspace.slug}, as ${made.role}`;
      const until = made.expires_at === null ? "" : `, valid until ${new Date(made.expires_at).toISOString()}`;
      await report(terminal, command, { ...made, secret }, [
        `Admin token ${made.name} of ${made.owner.email} for ${place} (${made.id})${until}.`,
        "It has no more than its user has. Its secret is shown this once and kept nowhere:",
        "",
        secret,
      ]);
    });
}

function checkName(name: string): void {
  if (name.trim() === "" || name.length > 256) throw new CommandWrong("--name has 1 to 256 characters");
}

async function onlyAdministrator(people: PeopleStore) {
  const { data } = await people.listUsers(null, null, 200);
  const [only, ...others] = data.filter(({ administrator, disabled }) => administrator && !disabled);
  if (only === undefined) {
    throw new CommandFailed(
      "there is no administrator yet: make one with `sluice user create <e-mail> --administrator`, set SLUICE_ADMIN_EMAIL and " +
        "SLUICE_ADMIN_PASSWORD and start once, or open the set-up link",
    );
  }
  if (others.length === 0) return only;
  throw new CommandFailed("there is more than one administrator; name one with --user");
}

function addTokenList(token: Command, terminal: Terminal): void {
  token
    .command("list")
    .description("list admin tokens, without their secrets")
    .option("--user <email>", "only those of this user")
    .action(async ({ user }: { readonly user?: string }, command: Command) => {
      const tokens = await withControl(terminal.variables, async ({ people }) =>
        everyToken(people, user === undefined ? null : (await userNamed(people, user)).id),
      );
      const rows = tokens.map((each) => [each.name, each.id, each.owner.email, scope(each), end(each), used(each)]);
      const heads = ["NAME", "ID", "OWNER", "FOR", "VALID UNTIL", "LAST USED"];
      const lines = tokens.length === 0 ? ["no admin tokens"] : columns([heads, ...rows]);
      await report(terminal, command, { tokens }, lines);
    });
}

/** Newest first. `ownerId` null: everybody's. */
async function everyToken(people: PeopleStore, ownerId: string | null): Promise<readonly AdminToken[]> {
  const tokens: AdminToken[] = [];
  let cursor: string | null = null;
  do {
    const page = await people.listTokens(ownerId, cursor, 200);
    tokens.push(...page.data);
    cursor = page.next;
  } while (cursor !== null);
  return tokens;
}

function scope({ workspace, role }: AdminToken): string {
  return workspace === null ? "the installation" : `${role} of ${workspace.slug}`;
}

function end({ expires_at: at }: AdminToken): string {
  return at === null ? "-" : new Date(at).toISOString();
}

function used({ last_used_at: at }: AdminToken): string {
  return at === null ? "never" : new Date(at).toISOString();
}

function addTokenRevoke(token: Command, terminal: Terminal): void {
  token
    .command("revoke")
    .description("make an admin token useless, with those that it made; there is no way back")
    .argument("<token>", "its id (adt_…), the beginning of its secret, or its name if no other has it")
    .action(async (text: string, _options: unknown, command: Command) => {
      const gone = await withControl(terminal.variables, async ({ people }) => {
        const found = await tokenNamed(people, text);
        await people.revokeToken(found.id, auditSource);
        return found;
      });
      const data = { id: gone.id, name: gone.name, owner: gone.owner.email, revoked: true };
      await report(terminal, command, data, [`revoked admin token ${gone.name} of ${gone.owner.email} (${gone.id})`]);
    });
}

async function tokenNamed(people: PeopleStore, text: string): Promise<AdminToken> {
  const byId = await people.token(text);
  if (byId !== null) return byId;
  const found = (await everyToken(people, null)).filter(({ name, prefix }) => name === text || prefix === text);
  const [only] = found;
  if (only === undefined) {
    throw new CommandFailed(`there is no admin token ${JSON.stringify(text)}; see \`sluice token list\``);
  }
  if (found.length === 1) return only;
  throw new CommandFailed(`${found.length} admin tokens are called ${JSON.stringify(text)}; name one by its id`);
}

function addTokenSecret(token: Command, terminal: Terminal): void {
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
