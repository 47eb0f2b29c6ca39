import { randomBytes } from "node:crypto";
import type { Command } from "commander";
import type { PeopleStore } from "#ports/index.ts";
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
import { report } from "../report.ts";
import type { Terminal } from "../terminal.ts";
import { userNamed } from "../user-keys.ts";

interface TokenCreateOptions extends GrantOptions {
  readonly name: string;
  readonly user?: string;
  readonly expires?: number;
}

export function addTokenCreate(token: Command, terminal: Terminal): void {
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
