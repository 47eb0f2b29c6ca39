import type { SessionAnswer } from "@sluice/contract";
import type { AuthAccount } from "../api/auth-answers.ts";

type Methods = SessionAnswer["methods"];

/**
 * Of the gateway's ways to sign in, those that somebody has: whoever has no password is asked for none. All of them while that
 * is not known, and where none would be left.
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
