import type { OidcConfig } from "@sluice/contract/config-file";
import type { AuditObject } from "@sluice/contract/words";
import { Failure, oidcDefaults, Secret } from "#core/index.ts";
import type { AuditSource, OidcAccount, Vault } from "#ports/index.ts";
import type { AuditedWrite, Connection, Row } from "#storage/tables.ts";
import { type ApplyContext, type ControlOptions, consoleWrite } from "../control-options.ts";
import { type FilePeople, forgetSuspended, refuseFilePeople, suspendedPeople } from "../people/file-people.ts";
import { refuseConflicts } from "../refusals.ts";
import { missingPlace, writeRules } from "../rights/rights-rules.ts";

/**
 * By id. Accounts of single sign-on are settings, each sealed whole: nobody who writes to the database can move an issuer.
 */
export async function oidcAccounts({ database, vault }: ControlOptions): Promise<readonly OidcAccount[]> {
  const rows = await database.kysely
    .selectFrom("settings")
    .selectAll()
    .where("name", "like", `${prefix}%`)
    .orderBy("name")
    .execute();
  const suspended = new Set((await suspendedPeople(database.kysely)).oidc);
  return rows.map((row) => {
    const account = accountOf(row, vault);
    return suspended.has(account.id) ? Object.freeze({ ...account, suspended: true }) : account;
  });
}

/** Rows of the system: no setting that a config file could name. */
const prefix = "sign-in.oidc.";

export async function putOidcAccount(
  options: ControlOptions,
  id: string,
  change: (before: OidcAccount | null) => Omit<OidcAccount, "id">,
  auditSource: AuditSource,
): Promise<OidcAccount> {
  const { vault } = options;
  return await consoleWrite(options, auditSource, async (under) => {
    await refuseFilePeople(under.transaction, "oidc", id, label(id));
    await forgetSuspended(under.transaction, "oidc", id);
    return await writeAccount(under, vault, id, change);
  });
}

/** The change itself, whoever makes it. */
async function writeAccount(
  { transaction, log }: AuditedWrite,
  vault: Vault,
  id: string,
  change: (before: OidcAccount | null) => Omit<OidcAccount, "id">,
): Promise<OidcAccount> {
  const row = await rowOf(transaction, id);
  const before = row === undefined ? null : accountOf(row, vault);
  const after: OidcAccount = { id, ...change(before) };
  const plain = plainOf(after);
  if (before !== null && plainOf(before) === plain) return after;
  const value = vault.seal(new Secret(plain), rowId(id));
  if (row === undefined) {
    await transaction
      .insertInto("settings")
      .values({ name: `${prefix}${id}`, value, managed_by: "system" })
      .execute();
  } else {
    await transaction.updateTable("settings").set({ value }).where("name", "=", row.name).execute();
  }
  // A refresh token goes to nobody but the one who gave it, and for the client that it was given to.
  if (before?.issuer !== after.issuer || before.clientId !== after.clientId) await forgetTokens(transaction, id);
  const action = before === null ? "create" : "update";
  log.record(action, label(id), before === null ? null : accountView(before, null), accountView(after, before));
  log.configChanged();
  return after;
}

/** Accounts become what the file says. One that vanished is suspended with its rules and what they gave; it signs in nobody. */
export async function applyOidc(
  context: ApplyContext,
  accounts: readonly OidcConfig[],
  before: FilePeople,
): Promise<{ readonly ids: readonly string[]; readonly suspended: readonly string[] }> {
  for (const [index, { id, ...account }] of accounts.entries()) {
    const rules = account.rules ?? [];
    const missing = await missingPlace(context.transaction, rules);
    if (missing !== null) {
      const path = ["oidc", index, "rules", missing.index, missing.field];
      refuseConflicts([{ path, message: missing.message }]);
    }
    await writeRules(context, context.vault, `oidc:${id}`, rules);
    await writeAccount(context, context.vault, id, () => ({
      name: account.name ?? id,
      issuer: account.issuer,
      clientId: account.client_id,
      clientSecret: new Secret(account.client_secret),
      allowedDomains: (account.allowed_domains ?? []).map((domain) => domain.toLowerCase()),
      secondFactorTrusted: account.second_factor_trusted ?? false,
      scopes: account.scopes ?? [],
      offlineAccess: account.offline_access ?? false,
      recheckMinutes: account.recheck_minutes ?? oidcDefaults.recheckMinutes,
      graceHours: account.grace_hours ?? oidcDefaults.graceHours,
      directoryClaim: account.directory_claim ?? oidcDefaults.directoryClaim,
    }));
  }
  const ids = accounts.map(({ id }) => id).toSorted();
  const { log } = context;
  const suspended: string[] = [];
  for (const id of [...before.oidc, ...before.suspended.oidc]) {
    const was = before.suspended.oidc.includes(id);
    if (ids.includes(id)) {
      if (was) log.record("resume", label(id), null, null);
    } else if ((await rowOf(context.transaction, id)) !== undefined) {
      suspended.push(id);
      if (!was) log.record("suspend", label(id), null, null);
    }
  }
  if (suspended.length + before.suspended.oidc.length > 0) log.configChanged();
  return { ids, suspended: suspended.toSorted() };
}

export async function removeOidcAccount(options: ControlOptions, id: string, auditSource: AuditSource): Promise<void> {
  await consoleWrite(options, auditSource, async (under) => {
    await refuseFilePeople(under.transaction, "oidc", id, label(id));
    await forgetSuspended(under.transaction, "oidc", id);
    await dropAccount(under, under.vault, id);
  });
}

async function dropAccount(under: AuditedWrite, vault: Vault, id: string): Promise<void> {
  const { transaction, log } = under;
  const row = await rowOf(transaction, id);
  if (row === undefined) {
    throw new Failure("not_found", "There is no such account of single sign-on.", { param: "account" });
  }
  await transaction.deleteFrom("settings").where("name", "=", row.name).execute();
  await forgetTokens(transaction, id);
  await writeRules(under, vault, `oidc:${id}`, []);
  log.record("remove", label(id), accountView(accountOf(row, vault), null), null);
  log.configChanged();
}

async function rowOf(connection: Connection, id: string): Promise<Row<"settings"> | undefined> {
  return await connection.selectFrom("settings").selectAll().where("name", "=", `${prefix}${id}`).executeTakeFirst();
}

function accountOf(row: Row<"settings">, vault: Vault): OidcAccount {
  const id = row.name.slice(prefix.length);
  const { clientSecret, ...rest } = JSON.parse(vault.open(row.value, rowId(id)).reveal());
  return Object.freeze({ ...oidcDefaults, ...rest, id, clientSecret: new Secret(clientSecret) });
}

/** In one order, whatever was stored before some of it was known. */
function plainOf(account: OidcAccount): string {
  return JSON.stringify({
    id: account.id,
    name: account.name,
    issuer: account.issuer,
    clientId: account.clientId,
    clientSecret: account.clientSecret.reveal(),
    allowedDomains: account.allowedDomains,
    secondFactorTrusted: account.secondFactorTrusted,
    scopes: account.scopes,
    offlineAccess: account.offlineAccess,
    recheckMinutes: account.recheckMinutes,
    graceHours: account.graceHours,
    directoryClaim: account.directoryClaim,
  } satisfies Record<keyof Omit<OidcAccount, "suspended">, unknown>);
}

async function forgetTokens(connection: Connection, id: string): Promise<void> {
  await connection
    .updateTable("person_claims")
    .set({ refresh_token: null })
    .where("source", "=", `oidc:${id}`)
    .execute();
}

function rowId(id: string): string {
  return `setting:${prefix}${id}`;
}

function label(id: string): AuditObject {
  return `single sign-on ${id}`;
}

/** What an audit row shows: that a secret is there and whether it changed, never the secret. */
function accountView({ clientSecret, ...account }: OidcAccount, before: OidcAccount | null) {
  const changed = before !== null && before.clientSecret.reveal() !== clientSecret.reveal();
  return { ...account, clientSecret: changed ? "[redacted, changed]" : "[redacted]" };
}
