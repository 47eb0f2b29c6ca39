import type { SessionAnswer } from "@sluice/contract";
import type { AuthAccount } from "../api/auth-answers.ts";

type Methods = SessionAnswer["methods"];

/**
 * The sign-in methods that a user has: without a password, the password form is not offered. Returns every method of the gateway while
 * the account is loading, or if none would be left.
 */
export function ownMethods(
  methods: Methods,
  account: Pick<AuthAccount, "password" | "passkeys" | "connections"> | undefined,
): Methods {
  if (account === undefined) return methods;
  const connected = new Set(account.connections.map(({ provider }) => provider));
  const own: Methods = {
    password: methods.password && account.password,
    passkey: methods.passkey && account.passkeys > 0,
    oidc: methods.oidc.filter(({ id }) => connected.has(id)),
  };
  return own.password || own.passkey || own.oidc.length > 0 ? own : methods;
}
