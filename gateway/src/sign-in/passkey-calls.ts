import { z } from "zod";
import { Failure } from "#core/index.ts";
import { answerJson, type Call, type CallSpec, get, post, userView } from "./call.ts";
import { passkeyAddProblems, passkeySignInProblems } from "./library-problems.ts";
import { nameSchema } from "./schemas.ts";
import { isAddress } from "./site.ts";

export const passkeysPerUserMax = 20;

/** What `navigator.credentials` gave, as JSON; the library reads it. */
const response = z.looseObject({ id: z.string().min(1).max(1_400), type: z.literal("public-key") });
const id = z.string().min(1).max(128);

export const passkeyCalls: readonly CallSpec[] = [
  get("/passkey/generate-register-options", "fresh", async (call) => {
    checkName(call);
    await refuseTooMany(call);
    const { json, cookies } = await call.callLibrary("/passkey/generate-register-options");
    return answerJson(json, cookies);
  }),
  post(
    "/passkey/verify-registration",
    "fresh",
    z.strictObject({ response, name: nameSchema.optional() }),
    async (call, body) => {
      // Whoever asked often before adding any has as many challenges.
      await refuseTooMany(call);
      const { json, cookies } = await call.callLibrary("/passkey/verify-registration", {
        body,
        problems: passkeyAddProblems,
      });
      call.tell("passkey-added", "passkey", call.signedIn.user);
      return answerJson({ passkey: passkeyView(json) }, cookies);
    },
  ),
  get("/passkey/generate-authenticate-options", "anybody", async (call) => {
    checkName(call);
    await call.countStart();
    const { json, cookies } = await call.callLibrary("/passkey/generate-authenticate-options");
    // The library asks for `preferred`; what it is given without is refused all the same.
    return answerJson({ ...json, userVerification: "required" }, cookies);
  }),
  post("/passkey/verify-authentication", "anybody", z.strictObject({ response }), async (call, body) => {
    const guess = { by: "passkey", account: null, userId: null, email: null } as const;
    const answer = await call.guess(guess, () =>
      call.callLibrary("/passkey/verify-authentication", { body, problems: passkeySignInProblems }),
    );
    return answerJson({ user: userView(await call.openSession(answer, "passkey")) }, answer.cookies);
  }),
  get("/passkey/list-user-passkeys", "session", async (call) => {
    const { json } = await call.callLibrary("/passkey/list-user-passkeys");
    const rows = (json["list"] ?? []) as readonly Readonly<Record<string, unknown>>[];
    return answerJson({ data: rows.map(passkeyView), next: null });
  }),
  post("/passkey/update-passkey", "session", z.strictObject({ id, name: nameSchema }), async (call, body) => {
    const { json } = await call.callLibrary("/passkey/update-passkey", { body, problems: notTheirs });
    return answerJson({ passkey: passkeyView(json["passkey"] as Readonly<Record<string, unknown>>) });
  }),
  post("/passkey/delete-passkey", "fresh", z.strictObject({ id }), async (call, body) => {
    const { user, id: sessionId } = call.signedIn;
    await call.dependencies.users.removeMethod(user.id, { passkey: body.id });
    // Its device may be lost, and signed in.
    await call.dependencies.sessions.endAll(user.id, sessionId);
    call.tell("passkey-removed", "passkey", user);
    return answerJson({});
  }),
];

/** Somebody else's passkey looks like none; the library refuses it with a bare 401. */
const notTheirs = { "": ["not_found", "There is no such passkey."] } as const;

async function refuseTooMany(call: Call): Promise<void> {
  const { passkeys } = await call.dependencies.users.signInMethods(call.signedIn.user.id);
  if (passkeys < passkeysPerUserMax) return;
  throw new Failure("conflict", `A user has at most ${passkeysPerUserMax} passkeys.`);
}

/** WebAuthn knows sites by their names. */
function checkName(call: Call): void {
  if (!isAddress(call.site.hostname)) return;
  throw new Failure(
    "invalid_request",
    "Passkeys work where the console is opened by a name, not by an IP address: http://localhost instead of 127.0.0.1.",
  );
}

function passkeyView(row: Readonly<Record<string, unknown>>): object {
  const createdAt = row["createdAt"];
  return {
    id: row["id"],
    name: row["name"] ?? null,
    created_at: typeof createdAt === "string" ? Date.parse(createdAt) : null,
    /** Kept by a password manager or a cloud, and so not lost with one device. */
    synced: row["backedUp"] === true,
    /** The model of authenticator, by which a page may name it. */
    aaguid: row["aaguid"] ?? null,
  };
}
