import { z } from "zod";
import { Failure } from "#core/index.ts";
import { answerJson, answerRedirect } from "./answers.ts";
import { type Call, type CallSpec, get, post } from "./call.ts";
import { signInPage } from "./library.ts";
import type { Site } from "./site.ts";

const home = "/console/";
/** A page of the console, and nothing that a browser could read as another site. */
const page = z
  .string()
  .max(1_024)
  .regex(/^\/console\/[\w\-./?&=%:@,~+#]*$/, "Not a page of the console.")
  .refine((path) => !/\/\/|\.\.|%2f|%5c|%00/i.test(path), "Not a page of the console.");

export const oidcCalls: readonly CallSpec[] = [
  post(
    "/sign-in/social",
    "anybody",
    z.strictObject({ provider: z.string().min(1).max(64), page: page.optional() }),
    async (call, body) => {
      call.desk.starts.take([call.address]);
      const { json, cookies } = await call.ask("/sign-in/social", {
        body: {
          provider: body.provider,
          callbackURL: body.page ?? home,
          errorCallbackURL: signInPage,
          disableRedirect: true,
        },
      });
      return answerJson({ url: json["url"] }, cookies);
    },
  ),
  get("/callback/:id", "anybody", async (call) => {
    try {
      return await comeBack(call);
    } catch (thrown) {
      // Somebody looks at this answer, not a program.
      if (thrown instanceof Failure && thrown.code !== "internal_error") return refuse(call, "failed");
      throw thrown;
    }
  }),
];

async function comeBack(call: Call): Promise<Response> {
  const query = takenFrom(new URL(call.request.url).searchParams);
  // RFC 9207: an answer that says it is another issuer's is not taken to this one.
  const issuer = query.get("iss");
  const metadata = issuer === null ? null : await call.desk.issuers.documents(call.pathId)?.metadata();
  if (issuer !== null && metadata?.issuer !== issuer) return refuse(call, "failed");
  const startedAt = call.desk.clock.now();
  const answer = await call.ask(`/callback/${encodeURIComponent(call.pathId)}`, { query });
  const target = new URL(answer.location ?? home, call.site.origin);
  const problem = target.searchParams.get("error");
  if (problem !== null) return refuse(call, problems[problem] ?? "failed", answer.cookies);
  const session = await call.welcome(answer, "oidc");
  if (session.user.createdAt >= startedAt) call.tell("user-created", "oidc", session.user);
  return answerRedirect(ownPath(target, call.site), answer.cookies);
}

function takenFrom(given: URLSearchParams): URLSearchParams {
  const query = new URLSearchParams();
  for (const name of ["code", "state", "iss", "error"]) {
    const value = given.get(name);
    if (value !== null && value.length <= 4_096) query.set(name, value);
  }
  return query;
}

/** Where somebody goes was checked at the start of the trip and is checked again at its end. */
function ownPath(target: URL, site: Site): string {
  if (target.origin !== site.origin || !target.pathname.startsWith("/console/")) return home;
  return `${target.pathname}${target.search}${target.hash}`;
}

function refuse(call: Call, error: string, cookies: readonly string[] = []): Response {
  call.tell("sign-in-refused", "oidc", { email: null });
  return answerRedirect(`${signInPage}?error=${error}`, cookies);
}

/** What the sign-in page is told: few words, and none that the issuer chose. */
const problems: Readonly<Record<string, string>> = {
  access_denied: "denied",
  state_mismatch: "expired",
  state_not_found: "expired",
  email_not_found: "no_email",
  email_not_verified: "email_not_verified",
  not_invited: "not_invited",
  other_person: "other_person",
  account_not_linked: "email_not_verified",
  unable_to_create_session: "no_access",
};
