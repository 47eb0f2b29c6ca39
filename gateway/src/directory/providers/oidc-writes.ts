import type { OidcConfig } from "@sluice/contract/config-file";
import type { AuditObject } from "@sluice/contract/words";
import { canonicalJson, Failure, oidcDefaults, Secret } from "#core/index.ts";
import type { OidcAccount } from "#ports/index.ts";
import { type Connection, membersOf } from "#storage/tables.ts";
import { type FilePeople, forgetSuspended, refuseFilePeople, suspendedPeople } from "../people/file-people.ts";
import { refuseConflicts } from "../refusals.ts";
import { missingPlace, writeRules } from "../rights/claimed-rights.ts";
import { deleteRows, setColumns } from "../rows.ts";
import type { ControlDirectory, ControlWrite, SealedWrite } from "../store.ts";
import { putSealedSetting, sealedSetting, sealedSettings } from "../system-settings.ts";

/**
 * By id. Accounts of single sign-on are settings, each sealed whole: nobody who writes to the database can move an issuer.
 */
export async function oidcAccounts({ database, vault }: ControlDirectory): Promise<readonly OidcAccount[]> {
  const accounts = await sealedSettings(database.kysely, vault, prefix);
  const suspended = new Set((await suspendedPeople(database.kysely)).oidc);
  return [...accounts].map(([id, stored]) => {
    const account = accountOf(id, stored);
    return suspended.has(id) ? Object.freeze({ ...account, suspended: true }) : account;
  });
}

/** Rows of the system: no setting that a config file could name. */
const prefix = "sign-in.oidc.";

export async function putOidcAccount(
  under: ControlWrite,
  id: string,
  change: (before: OidcAccount | null) => Omit<OidcAccount, "id">,
): Promise<OidcAccount> {
  await refuseFilePeople(under.transaction, "oidc", id, label(id));
  await forgetSuspended(under.transaction, "oidc", id);
  return await writeAccount(under, id, change);
}

/** The change itself, whoever makes it. */
async function writeAccount(
  under: SealedWrite,
  id: string,
  change: (before: OidcAccount | null) => Omit<OidcAccount, "id">,
): Promise<OidcAccount> {
  const { transaction, log } = under;
  const before = await storedAccount(under, id);
  const after: OidcAccount = { id, ...change(before) };
  const plain = plainOf(after);
  if (before !== null && plainOf(before) === plain) return after;
  await putSealedSetting(under, `${prefix}${id}`, plain);
  // A refresh token goes to nobody but the one who gave it, and for the client that it was given to.
  if (before?.issuer !== after.issuer || before.clientId !== after.clientId) await forgetTokens(transaction, id);
  log.change(label(id), before === null ? null : accountView(before, null), accountView(after, before));
  log.configChanged();
  return after;
}

/** Accounts become what the file says. One that vanished is suspended with its rules and what they gave; it signs in nobody. */
export async function applyOidc(
  context: ControlWrite,
  accounts: readonly OidcConfig[],
  before: FilePeople,
): Promise<{ readonly ids: readonly string[]; readonly suspended: readonly string[] }> {
  for (const [index, account] of accounts.entries()) {
    const { id, rules = [], client_secret, allowed_domains = [], ...given } = account;
    const missing = await missingPlace(context.transaction, rules);
    if (missing !== null) {
      const path = ["oidc", index, "rules", missing.index, missing.field];
      refuseConflicts([{ path, message: missing.message }]);
    }
    await writeRules(context, `oidc:${id}`, rules);
    const secret = { clientSecret: new Secret(client_secret) };
    const allowedDomains = allowed_domains.map((domain) => domain.toLowerCase());
    const fields = { name: id, ...oidcDefaults, ...membersOf(given), ...secret, allowedDomains };
    await writeAccount(context, id, () => fields as Omit<OidcAccount, "id">);
  }
  const ids = accounts.map(({ id }) => id).toSorted();
  const { log } = context;
  const suspended: string[] = [];
  for (const id of [...before.oidc, ...before.suspended.oidc]) {
    const was = before.suspended.oidc.includes(id);
    if (ids.includes(id)) {
      if (was) log.record("resume", label(id), null, null);
    } else if ((await storedAccount(context, id)) !== null) {
      suspended.push(id);
      if (!was) log.record("suspend", label(id), null, null);
    }
  }
  if (suspended.length + before.suspended.oidc.length > 0) log.configChanged();
  return { ids, suspended: suspended.toSorted() };
}

export async function removeOidcAccount(under: ControlWrite, id: string): Promise<void> {
  const { transaction, log } = under;
  await refuseFilePeople(transaction, "oidc", id, label(id));
  await forgetSuspended(transaction, "oidc", id);
  const before = await storedAccount(under, id);
  if (before === null) {
    throw new Failure("not_found", "There is no such account of single sign-on.", { param: "account" });
  }
  await deleteRows(transaction, "settings", { name: `${prefix}${id}` });
  await forgetTokens(transaction, id);
  await writeRules(under, `oidc:${id}`, []);
  log.record("remove", label(id), accountView(before, null), null);
  log.configChanged();
}

async function storedAccount({ transaction, vault }: SealedWrite, id: string): Promise<OidcAccount | null> {
  const stored = await sealedSetting(transaction, vault, `${prefix}${id}`);
  return stored === null ? null : accountOf(id, stored);
}

function accountOf(id: string, stored: unknown): OidcAccount {
  const { clientSecret, ...rest } = stored as Omit<OidcAccount, "clientSecret"> & { readonly clientSecret: string };
  return Object.freeze({ ...oidcDefaults, ...rest, id, clientSecret: new Secret(clientSecret) });
}

/** In one order, whatever was stored before some of it was known. */
function plainOf({ suspended: _suspended, ...account }: OidcAccount): string {
  return canonicalJson({ ...account, clientSecret: account.clientSecret.reveal() }, accountDepth);
}

const accountDepth = 2;

async function forgetTokens(connection: Connection, id: string): Promise<void> {
  await setColumns(connection, "person_claims", { source: `oidc:${id}` }, { refresh_token: null });
}

function label(id: string): AuditObject {
  return `single sign-on ${id}`;
}

/** What an audit row shows: that a secret is there and whether it changed, never the secret. */
function accountView({ clientSecret, ...account }: OidcAccount, before: OidcAccount | null) {
  const changed = before !== null && before.clientSecret.reveal() !== clientSecret.reveal();
  return { ...account, clientSecret: changed ? "[redacted, changed]" : "[redacted]" };
}
