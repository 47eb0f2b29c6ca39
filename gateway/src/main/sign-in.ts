import type { Environment } from "#config/index.ts";
import type { ControlStore, PeopleStore, RightsStore } from "#directory/index.ts";
import type { ClaimsListener, Observer, SignIn, SignInEvent, Transport } from "#ports/index.ts";
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

/** Sign-in over the gateway's own database, with a secret of its own and every event in the audit log. */
export function openSignIn({ environment, control, transport, observer }: SignInDependencies): SignIn {
  const { database, clock, ids, vault, people } = control;
  return createSignIn({
    kysely: database.kysely,
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
    rights: listener(control.rights, observer),
    onEvent: (event) => void remember(event, people, observer),
  });
}

/** Single sign-on goes by the accounts that are stored now. Rejects when they cannot be read: those in force stay. */
export async function useOidc(dependencies: {
  readonly signIn: Pick<SignIn, "useOidc">;
  readonly controlStore: Pick<ControlStore, "oidcAccounts">;
  readonly rights: Pick<RightsStore, "reapplyAllRules">;
  readonly observer: Observer;
}): Promise<void> {
  // Nobody waits for it: whoever signs in meanwhile is put under the rules of today all the same.
  void settleRights(dependencies.rights, dependencies.observer);
  dependencies.signIn.useOidc(await dependencies.controlStore.oidcAccounts());
}

/** What an issuer says of somebody becomes their rights. */
function listener(rights: RightsStore, observer: Observer): ClaimsListener {
  return {
    async pathsOf(account) {
      return [...new Set((await rights.rules(`oidc:${account}`)).map(({ claim }) => claim))];
    },
    async take({ account, ...said }) {
      const source = { actor: `single sign-on ${account}`, ip: null };
      tellKept(await rights.applyClaims({ ...said, source: `oidc:${account}` }, source), observer);
    },
  };
}

async function settleRights(rights: Pick<RightsStore, "reapplyAllRules">, observer: Observer): Promise<void> {
  try {
    tellKept(await rights.reapplyAllRules(), observer);
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown.message : String(thrown);
    const message = "Not everybody is put under the rules of today yet; it is tried again with the next change.";
    observer.log("error", message, { error });
  }
}

export function tellKept(kept: readonly string[], observer: Observer): void {
  for (const problem of kept) observer.log("warn", "A right could not be taken away.", { problem });
}

/** Guesses at accounts that are not there are logged only: whoever makes them must not be able to fill the audit log. */
async function remember(event: SignInEvent, people: PeopleStore, observer: Observer): Promise<void> {
  const { what, by, userId, email, ip } = event;
  if (userId === null) {
    observer.log("info", "A sign-in was refused.", { what, by, ip });
    return;
  }
  const name = email ?? userId;
  try {
    await people.note(
      { action: what, object: `user ${name}`, workspaceId: null, ...(by === null ? {} : { after: { by } }) },
      { actor: name, ip },
    );
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown.message : String(thrown);
    observer.log("error", "What happened at sign-in could not be written to the audit log.", { what, userId, error });
  }
}
