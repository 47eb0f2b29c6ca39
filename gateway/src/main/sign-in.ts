import type { Environment } from "#config/index.ts";
import { messageOf } from "#core/index.ts";
import type { ControlStore, PeopleStore, RightsStore } from "#directory/index.ts";
import type { ClaimsReceiver, Observer, SignIn, SignInEvent, Transport } from "#ports/index.ts";
import { createSignIn } from "#sign-in/index.ts";
import { hashPassword, passwordMatches } from "#storage/index.ts";
import type { Control } from "./control.ts";
import { consoleUrl } from "./listeners.ts";

export interface SignInDependencies {
  readonly environment: Environment;
  readonly control: Control;
  readonly transport: Transport;
  readonly observer: Observer;
}

/** Sign-in with the gateway's database. Every event is written to the audit log. */
export function openSignIn({ environment, control, transport, observer }: SignInDependencies): SignIn {
  const { database, clock, ids, vault, people } = control;
  return createSignIn({
    database: database.kysely,
    secrets: () => vault.deriveAll("console sessions", "1"),
    publicUrl: consoleUrl(environment),
    hashPassword,
    passwordMatches,
    clock,
    ids,
    openTries: control.openTries,
    observer,
    transport,
    oidc: [],
    connect: (identity) => control.scim.connect(identity),
    rights: claimsReceiver(control.rights, observer),
    onEvent: (event) => void auditEvent(event, people, observer),
  });
}

/** Loads the accounts for single sign-on. Rejects, and keeps the current ones, if they cannot be read. */
export async function useOidc(dependencies: {
  readonly signIn: Pick<SignIn, "useOidc">;
  readonly controlStore: Pick<ControlStore, "oidcAccounts">;
  readonly rights: Pick<RightsStore, "reapplyAllRules">;
  readonly observer: Observer;
}): Promise<void> {
  // Not awaited: new sign-ins use the current rules anyway.
  void applyRights(dependencies.rights, dependencies.observer);
  dependencies.signIn.useOidc(await dependencies.controlStore.oidcAccounts());
}

/** Applies the claims of an issuer as rights. */
function claimsReceiver(rights: RightsStore, observer: Observer): ClaimsReceiver {
  return {
    async pathsOf(account) {
      return [...new Set((await rights.rules(`oidc:${account}`)).map(({ claim }) => claim))];
    },
    async receive({ account, ...claims }) {
      const source = { actor: `single sign-on ${account}`, ip: null };
      logFailedRevocations(await rights.applyClaims({ ...claims, source: `oidc:${account}` }, source), observer);
    },
  };
}

async function applyRights(rights: Pick<RightsStore, "reapplyAllRules">, observer: Observer): Promise<void> {
  try {
    logFailedRevocations(await rights.reapplyAllRules(), observer);
  } catch (thrown) {
    observer.log("error", "failed to apply rights to all users; retrying at the next change", {
      error: messageOf(thrown),
    });
  }
}

export function logFailedRevocations(problems: readonly string[], observer: Observer): void {
  for (const problem of problems) observer.log("warn", "failed to revoke a right", { problem });
}

/** Attempts for unknown accounts are only logged, so that attackers cannot fill the audit log. */
async function auditEvent(event: SignInEvent, people: PeopleStore, observer: Observer): Promise<void> {
  const { what, by, userId, email, ip } = event;
  if (userId === null) {
    observer.log("info", "sign-in refused", { what, by, ip });
    return;
  }
  const name = email ?? userId;
  try {
    await people.note(
      { action: what, object: `user ${name}`, workspaceId: null, ...(by === null ? {} : { after: { by } }) },
      { actor: name, ip },
    );
  } catch (thrown) {
    const error = messageOf(thrown);
    observer.log("error", "failed to write a sign-in event to the audit log", { what, userId, error });
  }
}
