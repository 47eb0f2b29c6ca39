import type { BodyOf, ConsoleSettings } from "@sluice/contract";
import { oidcAccountSchema } from "@sluice/contract/console/settings";
import { Failure, oidcDefaults, Secret } from "#core/index.ts";
import type { ControlStore, ScimStore } from "#directory/index.ts";
import type { OidcAccount, SignIn } from "#ports/index.ts";
import { scimPath } from "../scim/scim-descriptions.ts";
import type { Handlers } from "./handler.ts";
import { ownOrigin } from "./one-time-link.ts";

export interface SettingsHandlerDependencies {
  readonly controlStore: ControlStore;
  readonly signIn: Pick<SignIn, "useOidc">;
  /** Resolves when this process has applied everything that was written until now. */
  readonly changesSeen: () => Promise<void>;
  readonly publicUrl: string | null;
  /** The sender of mails; null: mail is not configured. */
  readonly mailFrom: string | null;
  readonly ledgerExport: LedgerExportFacts;
}

/** The state of the ledger export, apart from its settings. */
export interface LedgerExportFacts {
  /** Whose credentials the environment holds; null: none. */
  readonly keys: "own" | "blobs" | null;
  /** The end of the last hour that was exported to the configured place; null: none was. */
  copiedUntil(): Promise<number | null>;
}

/** The calls about settings. */
export function settingsHandlers(
  dependencies: SettingsHandlerDependencies,
): Handlers<"settings.show" | "settings.update" | "settings.putOidc" | "settings.removeOidc"> {
  const { controlStore } = dependencies;
  return {
    "settings.show": ({ request }) => settingsView(dependencies, request),
    "settings.update": async ({ body, auditSource, request }) => {
      await controlStore.updateSettings(body, auditSource);
      await dependencies.changesSeen();
      return await settingsView(dependencies, request);
    },
    "settings.putOidc": async ({ params, body, auditSource, request }) => {
      const id = accountId(params.account);
      await controlStore.putOidcAccount(id, (before) => accountFrom(before, body), auditSource);
      dependencies.signIn.useOidc(await controlStore.oidcAccounts());
      return await settingsView(dependencies, request);
    },
    "settings.removeOidc": async ({ params, auditSource, request }) => {
      await controlStore.removeOidcAccount(params.account, auditSource);
      dependencies.signIn.useOidc(await controlStore.oidcAccounts());
      return await settingsView(dependencies, request);
    },
  };
}

async function settingsView(dependencies: SettingsHandlerDependencies, request: Request): Promise<ConsoleSettings> {
  const { settings, managedByFile } = await dependencies.controlStore.settings();
  const accounts = await dependencies.controlStore.oidcAccounts();
  // The redirect address to register with the issuer.
  const origin = dependencies.publicUrl === null ? ownOrigin(request) : new URL(dependencies.publicUrl).origin;
  return {
    settings,
    managed_by_file: [...managedByFile],
    oidc: accounts.map((account) => ({
      id: account.id,
      name: account.name,
      issuer: account.issuer,
      client_id: account.clientId,
      allowed_domains: [...account.allowedDomains],
      second_factor_trusted: account.secondFactorTrusted,
      scopes: [...account.scopes],
      offline_access: account.offlineAccess,
      recheck_minutes: account.recheckMinutes,
      grace_hours: account.graceHours,
      directory_claim: account.directoryClaim,
      has_secret: true,
      suspended: account.suspended === true,
      callback_url: `${origin}/api/auth/callback/${account.id}`,
    })),
    mail: { configured: dependencies.mailFrom !== null, from: dependencies.mailFrom },
    ledger_export: {
      keys: dependencies.ledgerExport.keys,
      copied_until: await dependencies.ledgerExport.copiedUntil(),
    },
  };
}

/** The name under which the sign-in library stores passwords. */
const reservedIds: ReadonlySet<string> = new Set(["credential"]);

function accountId(given: string): string {
  const read = oidcAccountSchema.shape.id.safeParse(given);
  const problem = read.success
    ? reservedIds.has(given)
      ? "this name is taken"
      : null
    : (read.error.issues[0]?.message ?? "no id");
  if (problem === null) return given;
  throw new Failure("invalid_request", `The id of an account of single sign-on: ${problem}.`, { param: "account" });
}

/** Keeps the stored secret while the issuer is unchanged: it must not be sent to another issuer. */
function accountFrom(before: OidcAccount | null, body: BodyOf<"settings.putOidc">): Omit<OidcAccount, "id"> {
  const issuer = checkedIssuer(body.issuer);
  const kept = before?.issuer === issuer ? before.clientSecret : null;
  const clientSecret = body.client_secret === undefined ? kept : new Secret(body.client_secret);
  if (clientSecret === null) {
    const why = before === null ? "is needed" : "must be given again, since the issuer changes";
    throw new Failure("invalid_request", `\`client_secret\` ${why}.`, { param: "client_secret" });
  }
  return {
    name: body.name,
    issuer,
    clientId: body.client_id,
    clientSecret,
    allowedDomains: domainsOf(body),
    secondFactorTrusted: body.second_factor_trusted ?? false,
    scopes: body.scopes ?? before?.scopes ?? oidcDefaults.scopes,
    offlineAccess: body.offline_access ?? before?.offlineAccess ?? oidcDefaults.offlineAccess,
    recheckMinutes: body.recheck_minutes ?? before?.recheckMinutes ?? oidcDefaults.recheckMinutes,
    graceHours: body.grace_hours ?? before?.graceHours ?? oidcDefaults.graceHours,
    directoryClaim:
      body.directory_claim === undefined
        ? (before?.directoryClaim ?? oidcDefaults.directoryClaim)
        : body.directory_claim,
  };
}

/** An https address, or one on this machine. */
function checkedIssuer(issuer: string): string {
  const { protocol, hostname, username, password, search, hash } = new URL(issuer);
  const local = ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
  const refuse = (problem: string) => new Failure("invalid_request", `\`issuer\` ${problem}.`, { param: "issuer" });
  if (protocol !== "https:" && !local) throw refuse("must be an https address: secrets are sent to it");
  if (username !== "" || password !== "") throw refuse("must not hold a credential");
  if (search !== "" || hash !== "") throw refuse("must not hold a query or a fragment");
  return issuer;
}

function domainsOf(body: BodyOf<"settings.putOidc">): readonly string[] {
  const domains = [...new Set(body.allowed_domains.map((domain) => domain.trim().toLowerCase()))];
  const wrong = domains.find(
    (domain) => !/^([\p{L}\p{N}]([\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+[\p{L}\p{N}-]{2,}$/u.test(domain),
  );
  if (wrong === undefined) return domains;
  throw new Failure("invalid_request", `\`allowed_domains\`: ${JSON.stringify(wrong)} is no mail domain.`, {
    param: "allowed_domains",
  });
}

export interface ScimHandlerDependencies {
  readonly scim: Pick<ScimStore, "numbers">;
  /** The public address of the admin API; null: only this machine's own names reach it. */
  readonly publicUrl: string | null;
}

/** The administrator's view of SCIM users and groups. The directory's own calls are in `scim/`. */
export function scimHandlers({ scim, publicUrl }: ScimHandlerDependencies): Handlers<"settings.scim"> {
  return {
    "settings.scim": async ({ request }) => {
      const { users, inactive, groups, lastRequestAt, tokens } = await scim.numbers();
      return {
        base_url: `${publicUrl?.replace(/\/+$/, "") ?? ownOrigin(request)}${scimPath}`,
        users,
        inactive,
        groups,
        last_request_at: lastRequestAt,
        tokens,
      };
    },
  };
}
