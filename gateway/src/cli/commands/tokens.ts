import { createHash, randomBytes } from "node:crypto";
import type { AdminToken } from "@sluice/contract";
import type { PeopleStore } from "#directory/index.ts";
import { type CliCommand, everyItem, table, timeText } from "../cli-command.ts";
import { auditSource } from "../open.ts";
import { expiry } from "../option-readers.ts";
import { CommandFailed, UsageError } from "../terminal.ts";
import { addServiceTokens } from "./keys.ts";
import { printToken } from "./login.ts";
import { type GrantOptions, readGrant, readRole, roleOption, userNamed } from "./users.ts";

interface TokenCreateOptions extends GrantOptions {
  readonly name: string;
  readonly user?: string;
  readonly expires?: number;
}

export function addTokens(program: CliCommand): void {
  const { terminal } = program;
  const token = program
    .command("token")
    .description("print the access token of `sluice login` for agents; manage admin tokens and service tokens")
    .action(() => printToken(terminal));
  token
    .command("create")
    .description("create a token for scripts that use the admin API; its secret is shown once")
    .requiredOption("--name <name>", "name of the token")
    .option("--user <email>", "owner of the token (optional if there is only one administrator)")
    .option("--administrator", "for the whole installation")
    .option("--workspace <slug>", "for this workspace only")
    .option(...roleOption)
    .option("--expires <when>", "a duration (12h, 90d, 8w) or a date", (text) => expiry(text, Date.now()))
    .hook("preAction", refuseWrongOptions)
    .onControl(async ({ people, controlStore, vault }, options: TokenCreateOptions) => {
      const { name, user, expires = null } = options;
      const { adminTokenPrefix, keySecretBytes, makeAdminTokenSecret } = await import("#identity/index.ts");
      const secret = makeAdminTokenSecret(randomBytes(keySecretBytes));
      const owner = user === undefined ? await onlyAdministrator(people) : await userNamed(people, user);
      const grant = await readGrant(options, controlStore);
      const wanted = { name, grant, ownerId: owner.id, digest: vault.digest(secret), expiresAt: expires };
      const made = await people.createToken({ ...wanted, prefix: adminTokenPrefix(secret) }, auditSource);
      const place = made.workspace === null ? "the installation" : `${made.workspace.slug}, as ${made.role}`;
      const until = made.expires_at === null ? "" : `, valid until ${timeText(made.expires_at)}`;
      return [
        { ...made, secret },
        [
          `Admin token ${made.name} of ${made.owner.email} for ${place} (${made.id})${until}.`,
          "It never has more rights than its owner. The secret is shown only once and not stored:",
          "",
          secret,
        ],
      ];
    });
  token
    .command("list")
    .description("list admin tokens without their secrets")
    .option("--user <email>", "of this user only")
    .onControl(async ({ people }, { user }: { readonly user?: string }) => {
      const tokens = await everyToken(people, user === undefined ? null : (await userNamed(people, user)).id);
      const rows = tokens.map(({ name, id, owner, workspace, role, expires_at: end, last_used_at: used }) => [
        ...[name, id, owner.email],
        workspace === null ? "the installation" : `${role} of ${workspace.slug}`,
        end === null ? "-" : timeText(end),
        used === null ? "never" : timeText(used),
      ]);
      const names = ["NAME", "ID", "OWNER", "FOR", "VALID UNTIL", "LAST USED"];
      return [{ tokens }, table(names, rows, "no admin tokens")];
    });
  token
    .command("revoke")
    .description("revoke an admin token permanently, with the tokens that it created")
    .argument("<token>", "id (adt_…), the beginning of the secret, or the name if it is unique")
    .onControl(async ({ people }, text: string) => {
      const { id, name, owner } = await tokenNamed(people, text);
      await people.revokeToken(id, auditSource);
      const data = { id, name, owner: owner.email, revoked: true };
      return [data, [`revoked admin token ${name} of ${owner.email} (${id})`]];
    });
  token
    .command("secret")
    .description("generate a secret and its SHA-256 for an admin token in the config file; nothing is stored")
    .option("--scim", "for a SCIM directory: it can only be used for SCIM")
    .answer(async ({ scim }: { readonly scim?: boolean }) => {
      const { keySecretBytes, makeAdminTokenSecret, makeScimTokenSecret } = await import("#identity/index.ts");
      const make = scim === true ? makeScimTokenSecret : makeAdminTokenSecret;
      const secret = make(randomBytes(keySecretBytes));
      const secret_sha256 = createHash("sha256").update(secret).digest("hex");
      return [
        { secret, secret_sha256 },
        [
          scim === true ? "For the directory, shown only once:" : "For the script, shown only once:",
          "",
          secret,
          "",
          "For the config file, under tokens:",
          "",
          `secret_sha256: ${secret_sha256}`,
        ],
      ];
    });
  addServiceTokens(token);
}

function refuseWrongOptions(command: Pick<CliCommand, "opts">): void {
  const options = command.opts<TokenCreateOptions>();
  const { name } = options;
  if (name.trim() === "" || name.length > 256) throw new UsageError("--name must have 1 to 256 characters");
  readRole(options);
}

async function onlyAdministrator(people: PeopleStore) {
  const { data } = await people.listUsers({}, null, 200);
  const [only, ...others] = data.filter(({ administrator, disabled }) => administrator && !disabled);
  if (only === undefined) {
    throw new CommandFailed(
      "there is no administrator yet: create one with `sluice user create <email> --administrator`, set SLUICE_ADMIN_EMAIL and " +
        "SLUICE_ADMIN_PASSWORD and start once, or open the setup link",
    );
  }
  if (others.length === 0) return only;
  throw new CommandFailed("there are several administrators; choose one with --user");
}

/** Newest first. `ownerId` null: all users. */
function everyToken(people: PeopleStore, ownerId: string | null): Promise<readonly AdminToken[]> {
  return everyItem((cursor) => people.listTokens(ownerId, cursor, 200));
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
  throw new CommandFailed(`${found.length} admin tokens are named ${JSON.stringify(text)}; use an id`);
}
