/**
 * sign-in: implements the port `SignIn` with Better Auth, which no other module sees and which is loaded at the first sign-in. A *site*
 * is an address of the console with its own cookies and passkeys; a *call* is one path under /api/auth. Nobody can sign up on their own,
 * and refusals do not reveal which accounts exist. Sessions that are revoked, idle or of a disabled user end at their next use. No call
 * under /v1 needs this module.
 */
export { checkPassword } from "./passwords.ts";
export { createSignIn, type SignInOptions } from "./sign-in.ts";
export { readPerson } from "./users.ts";
