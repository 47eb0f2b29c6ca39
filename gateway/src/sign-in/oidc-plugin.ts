import type { BetterAuthPlugin } from "better-auth/types";
import { bounds } from "#core/index.ts";
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
