import { z } from "zod";
import { Failure } from "#core/index.ts";
import { answerJson, answerRedirect, type Call, type CallSpec, get, type LibraryAnswer, post } from "./call.ts";
import { signInPage } from "./library.ts";
import { type RefusalReason, refusalReasons } from "./oidc-issuers.ts";
import { type CallbackFacts, recordCallback } from "./oidc-provider.ts";
import { cookieOf, type Site } from "./site.ts";

const home = "/console/";
const profile = "/console/profile";
/** A path of the console that no browser can read as another site. */
const page = z
  .string()
  .max(1_024)
  .regex(/^\/console\/[\w\-./?&=%:@,~+#]*$/, "Not a page of the console.")
  .refine((path) => !/\/\/|\.\.|%2f|%5c|%00/i.test(path), "Not a page of the console.");
const provider = z.string().min(1).max(64);

export const oidcCalls: readonly CallSpec[] = [
  post("/sign-in/social", "anybody", z.strictObject({ provider, page: page.optional() }), async (call, body) => {
    await call.countStart();
    const { json, cookies } = await call.callLibrary("/sign-in/social", {
      body: {
        provider: body.provider,
        callbackURL: body.page ?? home,
        errorCallbackURL: signInPage,
        disableRedirect: true,
      },
    });
    return answerJson({ url: json["url"] }, [...cookies, connectingCookie(call.site, null)]);
  }),
  post("/oidc/connect", "fresh", z.strictObject({ provider }), async (call, body) => {
    await call.countStart();
    await call.dependencies.users.refuseTooManyConnections(call.signedIn.user.id);
    const { json, cookies } = await call.callLibrary("/link-social", {
      body: { provider: body.provider, callbackURL: profile, errorCallbackURL: profile, disableRedirect: true },
    });
    return answerJson({ url: json["url"] }, [...cookies, connectingCookie(call.site, body.provider)]);
  }),
  post("/oidc/disconnect", "fresh", z.strictObject({ id: z.string().min(1).max(128) }), async (call, { id }) => {
    const { user, id: sessionId } = call.signedIn;
    await call.dependencies.users.removeMethod(user.id, { connection: id });
    // A session may have been opened by the removed connection.
    await call.dependencies.sessions.endAll(user.id, sessionId);
    call.emit("oidc-disconnected", "oidc", user);
    return answerJson({});
  }),
  get("/callback/:id", "anybody", async (call) => {
    try {
      return await handleCallback(call);
    } catch (thrown) {
      // A person sees this answer, not a program.
      if (thrown instanceof Failure && thrown.code !== "internal_error") {
        return refuse(call, refusalReasons.find((word) => word === thrown.param) ?? "failed");
      }
      throw thrown;
    }
  }),
];

async function handleCallback(call: Call): Promise<Response> {
  const query = callbackQuery(new URL(call.request.url).searchParams);
  // RFC 9207: refuse an answer of another issuer.
  const issuer = query.get("iss");
  const metadata = issuer === null ? null : await call.dependencies.issuers.issuer(call.pathId)?.documents.metadata();
  if (issuer !== null && metadata?.issuer !== issuer) return refuse(call, "failed");
  const startedAt = call.dependencies.clock.now();
  const { result: answer, trip } = await recordCallback(() =>
    call.callLibrary(`/callback/${encodeURIComponent(call.pathId)}`, { query }),
  );
  const target = new URL(answer.location ?? home, call.site.origin);
  const problem = target.searchParams.get("error");
  if (problem !== null) return refuse(call, problems[problem] ?? "failed", answer.cookies);
  const path = ownPath(target, call.site);
  if (sets(answer, call.site, "two_factor")) {
    await applyClaims(call, trip, { userId: trip.userId, sessionToKeep: null });
    return await askForCode(call, path, answer.cookies);
  }
  if (isConnecting(call) && !sets(answer, call.site, "session_token")) {
    await applyClaims(call, trip, { userId: call.signedIn.user.id, sessionToKeep: call.signedIn.id });
    return connected(call, answer.cookies);
  }
  const session = await call.openSession(answer, "oidc");
  try {
    await applyClaims(call, trip, { userId: session.user.id, sessionToKeep: session.id });
  } catch (thrown) {
    // The user gets the rights of the current claims, not of earlier ones.
    await call.dependencies.sessions.end(session.user.id, session.id);
    throw thrown;
  }
  if (session.user.createdAt >= startedAt) call.emit("user-created", "oidc", session.user);
  return answerRedirect(path, answer.cookies);
}

/** Applies the claims as rights before the user sees anything. */
async function applyClaims(
  { dependencies, pathId }: Call,
  { claims, refreshToken }: CallbackFacts,
  { userId, sessionToKeep }: { readonly userId: string | null; readonly sessionToKeep: string | null },
): Promise<void> {
  if (claims === null || userId === null) return;
  await dependencies.rights.receive({ userId, account: pathId, claims, refreshToken, sessionToKeep });
}

/** The user has a second factor, so the sign-in page asks for it. */
async function askForCode(call: Call, path: string, cookies: readonly string[]): Promise<Response> {
  await call.endSession();
  const next = new URLSearchParams({ step: "code", next: path.slice("/console".length) });
  return answerRedirect(`${signInPage}?${next}`, cookies);
}

function connected(call: Call, cookies: readonly string[]): Response {
  call.emit("oidc-connected", "oidc", call.signedIn.user);
  const query = new URLSearchParams({ connected: call.pathId });
  return answerRedirect(`${profile}?${query}`, [...cookies, connectingCookie(call.site, null)]);
}

/** Whether an answer sets a cookie that is not expired. */
function sets({ cookies }: LibraryAnswer, site: Site, name: string): boolean {
  const last = cookies.findLast((cookie) => cookie.startsWith(`${site.cookiePrefix}.${name}=`));
  return last !== undefined && !/;\s*max-age=0(;|$)/i.test(last);
}

/** Whether the user started this from the profile to connect an account. Decides only which page is shown. */
function isConnecting({ request, site, pathId }: Call): boolean {
  return cookieOf(request.headers, `${site.cookiePrefix}.connecting`) === pathId;
}

function connectingCookie({ cookiePrefix, secure }: Site, account: string | null): string {
  const life = account === null ? "Max-Age=0" : "Max-Age=600";
  return `${cookiePrefix}.connecting=${account ?? ""}.; ${life}; Path=/; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
}

function callbackQuery(given: URLSearchParams): URLSearchParams {
  const query = new URLSearchParams();
  for (const name of ["code", "state", "iss", "error"]) {
    const value = given.get(name);
    if (value !== null && value.length <= 4_096) query.set(name, value);
  }
  return query;
}

/** The path to redirect to. The target was checked at the start, and is checked again here. */
function ownPath(target: URL, site: Site): string {
  if (target.origin !== site.origin || !target.pathname.startsWith("/console/")) return home;
  return `${target.pathname}${target.search}${target.hash}`;
}

function refuse(call: Call, error: RefusalReason, cookies: readonly string[] = []): Response {
  call.emit("sign-in-refused", "oidc", { email: null });
  const query = new URLSearchParams({ error });
  if (error === "account_exists") query.set("provider", call.pathId);
  const back = isConnecting(call) ? profile : signInPage;
  return answerRedirect(`${back}?${query}`, [...cookies, connectingCookie(call.site, null)]);
}

const problems: Readonly<Record<string, RefusalReason>> = {
  access_denied: "denied",
  state_mismatch: "expired",
  state_not_found: "expired",
  email_not_found: "no_email",
  email_not_verified: "email_not_verified",
  not_invited: "not_invited",
  sign_in_first: "sign_in_first",
  account_not_linked: "account_exists",
  account_already_linked_to_different_user: "other_person",
  unable_to_create_session: "no_access",
};
