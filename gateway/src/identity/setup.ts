import { Failure, isSameText, nameFromEmail } from "#core/index.ts";
import type { PeopleStore } from "#directory/index.ts";
import type { SignIn } from "#ports/index.ts";

export interface SetupOptions extends FirstAdministratorOptions {
  /** 256 random bits as URL-safe text. */
  readonly randomToken: () => string;
  /** Shares the link between processes. Absent: only this process has it. */
  readonly shared?: SharedSetup;
  /** Called after the link was used. */
  readonly onCompleted?: () => void;
}

/** The token of the link that several processes share. */
export interface SharedSetup {
  /** Stores this token for all processes. False: another running process has already shown its own. */
  claim(token: string): Promise<boolean>;
  matches(token: string): Promise<boolean>;
}

type FirstAdministrator = Readonly<Record<"token" | "email" | "password", string>> & { readonly ip: string | null };

export type Setup = Awaited<ReturnType<typeof createSetup>>;

/**
 * Creates the first administrator. The token is created when a process starts without an administrator, and ends when there is one. It
 * exists only in this process, or is shared as a digest.
 */
export async function createSetup(options: SetupOptions) {
  const { people, shared } = options;
  let needed = !(await people.administratorExists());
  let token = needed ? options.randomToken() : null;
  if (token !== null && shared !== undefined && !(await shared.claim(token))) token = null;
  const isValid = async (candidate: string): Promise<boolean> => {
    if (shared !== undefined) return await shared.matches(candidate);
    return token !== null && isSameText(candidate, token);
  };
  let inProgress = false;
  return {
    /** The token of the setup link; null once there is an administrator, or if another process shows the link. */
    token: (): string | null => token,
    /** Whether there is no administrator yet. */
    async isNeeded(): Promise<boolean> {
      // Another process may have created one.
      if (needed && shared !== undefined) needed = !(await people.administratorExists());
      return needed;
    },
    /** `ip` is for the audit log. Throws `forbidden` for a wrong or used token, `invalid_request` for an invalid password. */
    async complete({ token: candidate, email, password, ip }: FirstAdministrator): Promise<void> {
      // Check the token first, so that a wrong one causes no hashing.
      if (!needed || inProgress || !(await isValid(candidate)) || inProgress) throw refused();
      inProgress = true;
      try {
        const created = await makeFirstAdministrator(options, { email, password }, ip);
        token = null;
        needed = false;
        if (!created) throw refused();
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
    "This setup link is invalid. It works once; the gateway prints a new one when it starts without an administrator.",
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
