import type { BodyOf } from "@sluice/contract";
import { oidcAccountSchema } from "@sluice/contract/console/settings";
import { ruleFault } from "@sluice/contract/words";
import {
  columnsOf,
  Failure,
  invalidRequest,
  isLoopbackHost,
  membersOf,
  oidcDefaults,
  type RightsClaimed,
  Secret,
  withoutUndefined,
} from "#core/index.ts";
import type { OidcAccount, RightsSource } from "#ports/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { scimPath } from "../scim/scim-schema.ts";
import type { Handlers } from "./calls.ts";
import { consoleOrigin, ownOrigin } from "./origins.ts";

/** Calls for settings, single sign-on accounts and rights rules. */
export function settingsHandlers(dependencies: ConsoleDependencies) {
  const { controlStore, rights, scim } = dependencies;
  const sourceOf = async (name: string): Promise<RightsSource> => {
    if (name === "scim") return name;
    const accounts = name.startsWith("oidc:") ? await controlStore.oidcAccounts() : [];
    if (accounts.some(({ id }) => `oidc:${id}` === name)) return name as RightsSource;
    throw new Failure("not_found", "Rights source not found.", { param: "source" });
  };
  const view = async (source: RightsSource) => ({
    rules: await rights.rules(source),
    managed_by: (await rights.isManagedByFile(source)) ? ("file" as const) : ("console" as const),
  });
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
    "settings.scim": async ({ request }) => {
      const { lastRequestAt, ...numbers } = await scim.stats();
      return {
        base_url: `${consoleOrigin(dependencies, request)}${scimPath}`,
        ...numbers,
        last_request_at: lastRequestAt,
      };
    },
    "rights.rules": async ({ params }) => await view(await sourceOf(params.source)),
    "rights.putRules": async ({ params, body, auditSource }) => {
      const source = await sourceOf(params.source);
      checkRules(body.rules);
      await rights.putRules(source, body.rules, auditSource);
      dependencies.onRevocationFailed(await rights.reapplyAllRules());
      return await view(source);
    },
    "rights.try": async ({ params, body }) => {
      const source = await sourceOf(params.source);
      if (body.rules !== undefined) checkRules(body.rules);
      return previewView(await rights.tryClaims(body.rules ?? (await rights.rules(source)), body.claims));
    },
    "rights.ofUser": async ({ params }) => ({ data: await rights.rightsOfUser(params.user) }),
  } satisfies Partial<Handlers>;
}

async function settingsView(dependencies: ConsoleDependencies, request: Request) {
  const { settings, managedByFile } = await dependencies.controlStore.settings();
  const accounts = await dependencies.controlStore.oidcAccounts();
  // The redirect address to register with the issuer.
  const origin = dependencies.publicUrl === null ? ownOrigin(request) : new URL(dependencies.publicUrl).origin;
  return {
    settings,
    managed_by_file: managedByFile,
    oidc: accounts.map(({ clientSecret: _secret, ...account }) => ({
      ...columnsOf(account),
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

function accountId(id: string): string {
  const read = oidcAccountSchema.shape.id.safeParse(id);
  const problem = read.success
    ? reservedIds.has(id)
      ? "this name is taken"
      : null
    : (read.error.issues[0]?.message ?? "invalid");
  if (problem === null) return id;
  throw invalidRequest("account", `Invalid single sign-on account id: ${problem}.`);
}

/** Keeps the stored secret while the issuer is unchanged: it must not be sent to another issuer. */
function accountFrom(before: OidcAccount | null, body: BodyOf<"settings.putOidc">): Omit<OidcAccount, "id"> {
  const issuer = checkedIssuer(body.issuer);
  const stored = before?.issuer === issuer ? before.clientSecret : null;
  const clientSecret = body.client_secret === undefined ? stored : new Secret(body.client_secret);
  if (clientSecret === null) {
    const problem = before === null ? "is required" : "must be sent again because the issuer changes";
    throw invalidRequest("client_secret", `\`client_secret\` ${problem}.`);
  }
  const { scopes, offlineAccess, recheckMinutes, graceHours, directoryClaim } = before ?? oidcDefaults;
  const { client_secret: _secret, ...sent } = body;
  return {
    ...{ scopes, offlineAccess, recheckMinutes, graceHours, directoryClaim, secondFactorTrusted: false },
    ...membersOf(withoutUndefined(sent)),
    ...{ issuer, clientSecret, allowedDomains: domainsOf(body) },
  };
}

/** An https address, or one on this machine. */
function checkedIssuer(issuer: string): string {
  const { protocol, hostname, username, password, search, hash } = new URL(issuer);
  const local = isLoopbackHost(hostname);
  const refuse = (problem: string) => invalidRequest("issuer", `\`issuer\` ${problem}.`);
  if (protocol !== "https:" && !local) throw refuse("must be an https URL because secrets are sent to it");
  if (username !== "" || password !== "") throw refuse("must not contain credentials");
  if (search !== "" || hash !== "") throw refuse("must not contain a query or fragment");
  return issuer;
}

function domainsOf(body: BodyOf<"settings.putOidc">): readonly string[] {
  const domains = [...new Set(body.allowed_domains.map((domain) => domain.trim().toLowerCase()))];
  const wrong = domains.find(
    (domain) => !/^([\p{L}\p{N}]([\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+[\p{L}\p{N}-]{2,}$/u.test(domain),
  );
  if (wrong === undefined) return domains;
  throw invalidRequest("allowed_domains", `\`allowed_domains\`: ${JSON.stringify(wrong)} is not an email domain.`);
}

function checkRules(rules: BodyOf<"rights.putRules">["rules"]): void {
  for (const [index, rule] of rules.entries()) {
    const fault = ruleFault(rule);
    if (fault === null) continue;
    throw invalidRequest(`rules.${index}`, `Rule ${index + 1}: ${fault}.`);
  }
}

function previewView({ administrator, places, findings }: RightsClaimed) {
  return {
    administrator,
    places,
    findings: findings.map(({ rule, ...finding }) => ({ ...finding, name: rule.name ?? null })),
  };
}
