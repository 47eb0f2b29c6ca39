import type { OidcConfig } from "@sluice/contract/config-file";
import type { AuditObject } from "@sluice/contract/words";
import { canonicalJson, membersOf, oidcDefaults, orNotFound, Secret } from "#core/index.ts";
import type { OidcAccount } from "#ports/index.ts";
import type { Connection } from "#storage/tables.ts";
import { type FilePeople, readFilePeople, releaseFromFile } from "../people/file-people.ts";
import { ConfigConflict } from "../refusals.ts";
import { missingRuleTarget, writeRules } from "../rights/claimed-rights.ts";
import { deleteRows, setColumns } from "../rows.ts";
import type { ControlDirectory, ControlWrite, SealedWrite } from "../store.ts";
import { putSealedSetting, sealedSetting, sealedSettings } from "../system-settings.ts";

/** Ordered by id. Each account is an encrypted setting, so that write access to the database cannot change an issuer. */
export async function oidcAccounts({ database, vault }: ControlDirectory): Promise<readonly OidcAccount[]> {
  const accounts = await sealedSettings(database.kysely, vault, prefix);
  const suspended = new Set((await readFilePeople(database.kysely)).suspended.oidc);
  return [...accounts].map(([id, stored]) => {
    const account = accountOf(id, stored);
    return suspended.has(id) ? Object.freeze({ ...account, suspended: true }) : account;
  });
}

const prefix = "sign-in.oidc.";

export async function putOidcAccount(
  context: ControlWrite,
  id: string,
  change: (before: OidcAccount | null) => Omit<OidcAccount, "id">,
): Promise<OidcAccount> {
  await releaseFromFile(context.transaction, "oidc", id, label(id));
  return await writeAccount(context, id, change);
}

async function writeAccount(
  context: SealedWrite,
  id: string,
  change: (before: OidcAccount | null) => Omit<OidcAccount, "id">,
): Promise<OidcAccount> {
  const { transaction, log } = context;
  const before = await storedAccount(context, id);
  const after: OidcAccount = { id, ...change(before) };
  const text = canonicalText(after);
  if (before !== null && canonicalText(before) === text) return after;
  await putSealedSetting(context, `${prefix}${id}`, text);
  // A refresh token must only be sent to its issuer, for the client that it was issued to.
  if (before?.issuer !== after.issuer || before.clientId !== after.clientId) await deleteRefreshTokens(transaction, id);
  log.change(label(id), before === null ? null : accountView(before, null), accountView(after, before));
  log.configChanged();
  return after;
}

/** Applies the accounts of the file. An account that it no longer declares is suspended: its rules stay, but it allows no sign-in. */
export async function applyOidc(
  context: ControlWrite,
  accounts: readonly OidcConfig[],
  before: FilePeople,
): Promise<{ readonly ids: readonly string[]; readonly suspended: readonly string[] }> {
  for (const [index, account] of accounts.entries()) {
    const { id, rules = [], client_secret, allowed_domains = [], ...rest } = account;
    const missing = await missingRuleTarget(context.transaction, rules);
    if (missing !== null) {
      const path = ["oidc", index, "rules", missing.index, missing.field];
      throw new ConfigConflict([{ path, message: missing.message }]);
    }
    await writeRules(context, `oidc:${id}`, rules);
    const secret = { clientSecret: new Secret(client_secret) };
    const allowedDomains = allowed_domains.map((domain) => domain.toLowerCase());
    const fields = { name: id, ...oidcDefaults, ...membersOf(rest), ...secret, allowedDomains };
    await writeAccount(context, id, () => fields as Omit<OidcAccount, "id">);
  }
  const ids = accounts.map(({ id }) => id).toSorted();
  const { log } = context;
  const suspended: string[] = [];
  for (const id of [...before.oidc, ...before.suspended.oidc]) {
    const wasSuspended = before.suspended.oidc.includes(id);
    if (ids.includes(id)) {
      if (wasSuspended) log.record("resume", label(id), null, null);
    } else if ((await storedAccount(context, id)) !== null) {
      suspended.push(id);
      if (!wasSuspended) log.record("suspend", label(id), null, null);
    }
  }
  if (suspended.length + before.suspended.oidc.length > 0) log.configChanged();
  return { ids, suspended: suspended.toSorted() };
}

export async function removeOidcAccount(context: ControlWrite, id: string): Promise<void> {
  const { transaction, log } = context;
  await releaseFromFile(transaction, "oidc", id, label(id));
  const before = orNotFound(await storedAccount(context, id), "account of single sign-on", "account");
  await deleteRows(transaction, "settings", { name: `${prefix}${id}` });
  await deleteRefreshTokens(transaction, id);
  await writeRules(context, `oidc:${id}`, []);
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

/** Equal accounts give equal text. */
function canonicalText({ suspended: _suspended, ...account }: OidcAccount): string {
  return canonicalJson({ ...account, clientSecret: account.clientSecret.reveal() }, accountDepth);
}

const accountDepth = 2;

async function deleteRefreshTokens(connection: Connection, id: string): Promise<void> {
  await setColumns(connection, "person_claims", { source: `oidc:${id}` }, { refresh_token: null });
}

function label(id: string): AuditObject {
  return `single sign-on ${id}`;
}

/** Shows in the audit log whether the secret changed, never the secret. */
function accountView({ clientSecret, ...account }: OidcAccount, before: OidcAccount | null) {
  const changed = before !== null && before.clientSecret.reveal() !== clientSecret.reveal();
  return { ...account, clientSecret: changed ? "[redacted, changed]" : "[redacted]" };
}
