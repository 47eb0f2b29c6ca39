import type { PeopleStore } from "#directory/index.ts";
import type { SignIn } from "#ports/index.ts";

export interface FirstAdministratorOptions {
  readonly signIn: Pick<SignIn, "createUser" | "setPassword" | "removeUser">;
  readonly people: Pick<PeopleStore, "administratorExists" | "makeFirstAdministrator" | "userByEmail">;
}

/**
 * A user with a password and the right of an administrator, for an installation that has none; false when there is one. The
 * user and the right are two steps: whoever was stopped between them left a user without rights, who is taken up here when
 * the same address comes again, with the password given now.
 */
export async function makeFirstAdministrator(
  { signIn, people }: FirstAdministratorOptions,
  given: { readonly email: string; readonly password: string },
  ip: string | null,
): Promise<boolean> {
  if (await people.administratorExists()) return false;
  const { password } = given;
  const email = given.email.trim().toLowerCase();
  const known = await people.userByEmail(email);
  const user = known ?? (await signIn.createUser({ email, name: nameOf(email), password }));
  if (known !== null) await signIn.setPassword(known.id, password);
  const made = await people.makeFirstAdministrator(user.id, { actor: email, ip }, known === null);
  // Somebody else was first: a user that nobody invited must not stay.
  if (!made && known === null) await signIn.removeUser(user.id);
  return made;
}

function nameOf(email: string): string {
  return email.slice(0, email.indexOf("@")) || email;
}
