import { z } from "zod";
import { Failure } from "#core/index.ts";
import { answerJson, type Call, type CallSpec, get, post, userView } from "./call.ts";
import { passkeyAddProblems, passkeySignInProblems } from "./library-problems.ts";
import { nameSchema } from "./schemas.ts";
import { isAddress } from "./site.ts";

export const passkeysPerUserMax = 20;

/** The result of `navigator.credentials` as JSON, which the library validates. */
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
      // There is a challenge for each request.
      await refuseTooMany(call);
      const { json, cookies } = await call.callLibrary("/passkey/verify-registration", {
        body,
        problems: passkeyAddProblems,
      });
      call.emit("passkey-added", "passkey", call.signedIn.user);
      return answerJson({ passkey: passkeyView(json) }, cookies);
    },
  ),
  get("/passkey/generate-authenticate-options", "anybody", async (call) => {
    checkName(call);
    await call.countStart();
    const { json, cookies } = await call.callLibrary("/passkey/generate-authenticate-options");
    // The library asks for `preferred`, but answers without user verification are refused.
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
    // The device may be lost and still signed in.
    await call.dependencies.sessions.endAll(user.id, sessionId);
    call.emit("passkey-removed", "passkey", user);
    return answerJson({});
  }),
];

/** Another user's passkey looks missing; the library answers with a bare 401. */
const notTheirs = { "": ["not_found", "Passkey not found."] } as const;

async function refuseTooMany(call: Call): Promise<void> {
  const { passkeys } = await call.dependencies.users.signInMethods(call.signedIn.user.id);
  if (passkeys < passkeysPerUserMax) return;
  throw new Failure("conflict", `A user can have at most ${passkeysPerUserMax} passkeys.`);
}

/** WebAuthn needs a host name. */
function checkName(call: Call): void {
  if (!isAddress(call.site.hostname)) return;
  throw new Failure(
    "invalid_request",
    "Passkeys do not work at an IP address. Open the console by name: http://localhost instead of 127.0.0.1.",
  );
}

function passkeyView(row: Readonly<Record<string, unknown>>): object {
  const createdAt = row["createdAt"];
  return {
    id: row["id"],
    name: row["name"] ?? null,
    created_at: typeof createdAt === "string" ? Date.parse(createdAt) : null,
    /** Synced by a password manager, so not lost with the device. */
    synced: row["backedUp"] === true,
    /** The model of the authenticator, to show its name. */
    aaguid: row["aaguid"] ?? null,
  };
}
