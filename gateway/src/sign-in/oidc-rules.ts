import type { BetterAuthOptions } from "better-auth/types";
import { isAllowed } from "./oidc-domains.ts";
import type { Issuers } from "./oidc-issuers.ts";

type Validate = NonNullable<NonNullable<BetterAuthOptions["user"]>["validateUserInfo"]>;

/**
 * Who becomes a user and what is connected. A stranger becomes one with a verified address in one of the account's domains.
 * An issuer's identity (its name and the subject there) is connected to a user only on a trip that this user set out on from
 * their profile, and while they are signed in. An address never connects anything.
 */
export function admitByIssuer(
  issuers: Issuers,
  signedInLately: (headers: Headers) => Promise<string | null>,
): Validate {
  return async ({ user, source }, context) => {
    const account = issuers.account(source.oauth?.providerId ?? "");
    if (source.method !== "oauth" || account === null) return { error: "not_admitted" };
    if (source.action === "sign-in") return;
    if (source.action === "link-account") {
      const userId = await signedInLately(context.headers ?? new Headers());
      return userId !== null && userId === user.id ? undefined : { error: "sign_in_first" };
    }
    if (user.emailVerified !== true) return { error: "email_not_verified" };
    const email = user.email ?? "";
    return isAllowed(account, email) ? undefined : { error: "not_invited" };
  };
}
