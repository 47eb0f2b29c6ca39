import { Failure, isSameText, nameFromEmail } from "#core/index.ts";
import type { PeopleStore } from "#directory/index.ts";
import type { SignIn } from "#ports/index.ts";

export interface SetupOptions extends FirstAdministratorOptions {
  /** 256 bits of chance as URL-safe text. */
  readonly randomToken: () => string;
  /** Where several processes have one link together; left out: it is this process's. */
  readonly shared?: SharedSetup;
  /** Called when somebody has used the link. */
  readonly onCompleted?: () => void;
}

/** The link that is common to several processes, by its token. */
export interface SharedSetup {
  /** Makes this the token of all. False: another process that is there has shown its own. */
  claim(token: string): Promise<boolean>;
  matches(token: string): Promise<boolean>;
}

type FirstAdministrator = Readonly<Record<"token" | "email" | "password", string>> & { readonly ip: string | null };

export type Setup = Awaited<ReturnType<typeof createSetup>>;

/**
 * The making of the first administrator. The token is made when a process starts without an administrator, and gone when one
 * exists, whoever made it. It lives in this process only, or is shared by its digest.
 */
export async function createSetup(options: SetupOptions) {
  const { people, shared } = options;
  let needed = !(await people.administratorExists());
  let token = needed ? options.randomToken() : null;
  if (token !== null && shared !== undefined && !(await shared.claim(token))) token = null;
  const isValid = async (given: string): Promise<boolean> => {
    if (shared !== undefined) return await shared.matches(given);
    return token !== null && isSameText(given, token);
  };
  let inProgress = false;
  return {
    /** What the set-up link carries; null once there is an administrator, and where another process shows the link. */
    token: (): string | null => token,
    /** Whether the first administrator is still to be made. */
    async isNeeded(): Promise<boolean> {
      // Another process may have made one.
      if (needed && shared !== undefined) needed = !(await people.administratorExists());
      return needed;
    },
    /**
     * `ip`: where the call came from, for the audit row. Throws `forbidden` for a wrong or used token, `invalid_request` for a password
     * outside its bounds.
     */
    async complete({ token: given, email, password, ip }: FirstAdministrator): Promise<void> {
      // The token first: a guesser must not be able to make us hash. Of two at once, one is enough.
      if (!needed || inProgress || !(await isValid(given)) || inProgress) throw refused();
      inProgress = true;
      try {
        const made = await makeFirstAdministrator(options, { email, password }, ip);
        token = null;
        needed = false;
        if (!made) throw refused();
        options.onCompleted?.();
      } finally {
        inProgress = false;
      }
    },
  };
}

function refused(): Failure {
  return new Failure(
    "forbidden",
    "This set-up link is not valid. It works once; the gateway prints a new one when it starts without an administrator.",
  );
}

interface FirstAdministratorOptions {
  readonly signIn: Pick<SignIn, "prepareUser">;
  readonly people: Pick<PeopleStore, "administratorExists" | "makeFirstAdministrator">;
}

/** Creates the first administrator, or gives an existing user this right and the password. false: there is an administrator already. */
export async function makeFirstAdministrator(
  { signIn, people }: FirstAdministratorOptions,
  { email, password }: { readonly email: string; readonly password: string },
  ip: string | null,
): Promise<boolean> {
  if (await people.administratorExists()) return false;
  const user = await signIn.prepareUser({ email, name: nameFromEmail(email.trim()), password });
  return await people.makeFirstAdministrator(user, { actor: user.email, ip });
}
