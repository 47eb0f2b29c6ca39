import type { BetterAuthOptions, BetterAuthPlugin } from "better-auth/types";
import { bounds } from "#core/index.ts";
import { isAllowed } from "./oidc-domains.ts";
import type { Issuers } from "./oidc-issuers.ts";
import { oidcProvider } from "./oidc-provider.ts";
import { learn } from "./oidc-trip.ts";

/**
 * Makes the issuers known to the library, and asks for the second factor after them. The library does so after a password
 * only: an issuer that did not ask for one would open what a password alone does not.
 */
export async function oidcPlugin(issuers: Issuers): Promise<BetterAuthPlugin> {
  const [{ createAuthMiddleware }, { deleteSessionCookie }, { generateRandomString }] = await Promise.all([
    import("better-auth/api"),
    import("better-auth/cookies"),
    import("better-auth/crypto"),
  ]);
  const askForCode = createAuthMiddleware(async (context) => {
    const opened = context.context.newSession;
    if (!opened) return;
    learn({ userId: opened.user.id });
    const account = issuers.account(String(context.params?.["id"] ?? ""));
    const { twoFactorEnabled } = opened.user as { readonly twoFactorEnabled?: unknown };
    if (!twoFactorEnabled || account?.secondFactorTrusted === true) return;
    const { internalAdapter, secret } = context.context;
    deleteSessionCookie(context, true);
    await internalAdapter.deleteSession(opened.session.token);
    context.context.setNewSession(null);
    // From here on it is a sign-in whose password was right: see the library's own hook of this plugin.
    const cookie = context.context.createAuthCookie("two_factor", { maxAge: bounds.secondFactorMs / 1_000 });
    const identifier = `2fa-${generateRandomString(20)}`;
    const expiresAt = new Date(Date.now() + bounds.secondFactorMs);
    await internalAdapter.createVerificationValue({ value: opened.user.id, identifier, expiresAt });
    await internalAdapter.createVerificationValue({ value: "0", identifier: `2fa-attempts-${identifier}`, expiresAt });
    await context.setSignedCookie(cookie.name, identifier, secret, cookie.attributes);
  });
  return {
    id: "sluice-oidc",
    init: () => ({ context: { socialProviders: [...issuers.providers(oidcProvider)] } }),
    hooks: { after: [{ matcher: ({ path }) => path?.startsWith("/callback/") === true, handler: askForCode }] },
  };
}

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
