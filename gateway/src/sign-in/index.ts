/**
 * accounts: who may open the console. Implements the port `SignIn` with a library (Better Auth), which nothing outside
 * this module sees and which is loaded when somebody first signs in.
 *
 * Words: a *site* is an address the console is opened at, with its own cookies and passkeys; a *session* is a row, and
 * its cookie the only place where its token is; a *call* is one path under /api/auth (any path not listed here is not
 * there); a *try* is one guess at something secret; an *issuer* is who vouches in single sign-on.
 *
 * Promises: nobody signs up by themselves. What is refused tells nothing of which accounts exist. A session that is
 * revoked, idle or of a disabled user ends at its next use. When an issuer is down, everybody else still signs in; when
 * the database is down, nobody does, and no call under /v1 needs this module.
 */
export { checkPassword } from "./passwords.ts";
export { createSignIn, type SignInOptions } from "./sign-in.ts";
export { readPerson } from "./users.ts";
