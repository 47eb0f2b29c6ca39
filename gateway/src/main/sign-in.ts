import type { Environment } from "#config/index.ts";
import type { ControlStore, Observer, PeopleStore, SignIn, SignInEvent, Transport } from "#ports/index.ts";
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
    secret: vault.derive("console sessions", "1"),
    publicUrl: consoleUrl(environment),
    hashPassword,
    passwordMatches,
    clock,
    ids,
    openTries: control.openTries,
    observer,
    transport,
    oidc: [],
    onEvent: (event) => void remember(event, people, observer),
  });
}

/** Single sign-on goes by the accounts that are stored now; those in force stay when they cannot be read. */
export async function useOidc(dependencies: {
  readonly signIn: Pick<SignIn, "useOidc">;
  readonly controlStore: Pick<ControlStore, "oidcAccounts">;
  readonly observer: Observer;
}): Promise<void> {
  try {
    dependencies.signIn.useOidc(await dependencies.controlStore.oidcAccounts());
  } catch (thrown) {
    dependencies.observer.log(
      "error",
      "The accounts of single sign-on could not be read; the last ones stay in force.",
      {
        error: thrown,
      },
    );
  }
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
