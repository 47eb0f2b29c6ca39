import type { BetterAuthOptions } from "better-auth/types";
import type { Issuers } from "./oidc-issuers.ts";

type Validate = NonNullable<NonNullable<BetterAuthOptions["user"]>["validateUserInfo"]>;

/**
 * Whom an issuer may bring in. A stranger: with a verified address in one of the account's domains. Into a user who is
 * there already: by the same address, verified, and only where that issuer did not vouch for somebody else under it
 * before: an address that was given to a new person must not open the old one's account.
 */
export function admitByIssuer(issuers: Issuers): Validate {
  return async ({ user, source }, context) => {
    const account = issuers.account(source.oauth?.providerId ?? "");
    if (source.method !== "oauth" || account === null) return { error: "not_admitted" };
    if (source.action === "sign-in") return;
    if (user.emailVerified !== true) return { error: "email_not_verified" };
    if (source.action === "create-user") {
      const domain = (user.email ?? "").toLowerCase().split("@").at(-1) ?? "";
      const allowed = account.allowedDomains.some((each) => each.toLowerCase() === domain);
      return allowed ? undefined : { error: "not_invited" };
    }
    const known = await context.context.internalAdapter.findAccounts(user.id ?? "");
    return known.some(({ providerId }) => providerId === account.id) ? { error: "other_person" } : undefined;
  };
}
