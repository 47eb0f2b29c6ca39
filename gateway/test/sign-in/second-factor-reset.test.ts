import { afterEach, expect, test } from "bun:test";
import { sluice } from "../command-line.ts";
import { type StartedGateway, startGateway } from "../started-gateway.ts";
import { authenticatorApp } from "./one-time-codes.ts";

const password = "correct horse battery staple";
const ada = "ada@example.org";
const bob = "bob@example.org";

let gateway: StartedGateway | null = null;
afterEach(async () => {
  await gateway?.stop();
  gateway = null;
});

/** Fields of the answers; each answer has some of them. */
interface AnswerBody {
  readonly link: string;
  readonly totp_uri: string;
  readonly backup_codes: readonly string[];
  readonly two_factor: boolean;
  readonly user: { readonly email: string } | null;
  readonly error: { readonly code: string; readonly message: string };
}

/** The whole gateway, with Ada as administrator and Bob, who has a second factor. */
async function openGateway() {
  const started = await startGateway();
  gateway = started;
  const post = async (path: string, body: object, cookie = "") => {
    const answer = await started.post(path, body, { key: null, headers: { origin: started.url, cookie } });
    const cookies = answer.headers.getSetCookie().map((line) => line.split(";", 1)[0] ?? "");
    return { status: answer.status, json: (await answer.json()) as AnswerBody, cookie: cookies.join("; ") };
  };
  const signIn = (email: string) => post("/api/auth/sign-in/email", { email, password });
  await post("/api/setup", { token: "test-setup-token-0123456789", email: ada, password });
  const adas = (await signIn(ada)).cookie;
  const { link } = (await post("/api/invitations", { email: bob }, adas)).json;
  const token = link.slice(link.indexOf("=") + 1);
  expect((await post("/api/invitation/accept", { token, name: "Bob", password })).status).toBe(201);
  const first = (await signIn(bob)).cookie;
  const enabled = (await post("/api/auth/two-factor/enable", { password }, first)).json;
  const code = authenticatorApp(enabled.totp_uri)();
  const bobs = (await post("/api/auth/two-factor/verify-totp", { code }, first)).cookie;
  const people = started.control.people;
  const idOf = async (email: string) => (await people.userByEmail(email))?.id ?? "";
  return {
    adas,
    bobs,
    backupCodes: enabled.backup_codes,
    dataDir: started.dataDir,
    people,
    post,
    signIn,
    idOf,
    reset: async (email: string, body: object = {}) =>
      await post(`/api/users/${await idOf(email)}/second-factor/reset`, body, adas),
    signedIn: async (cookie: string) =>
      (await started.get("/api/auth/account", { cookie, "sec-fetch-site": "same-origin" })).status === 200,
    audit: () =>
      started.control.database.kysely
        .selectFrom("audit_log")
        .select(["actor", "action", "object", "before", "after"])
        .where("object", "like", "second factor%")
        .execute(),
  };
}

test("after an administrator's reset, and not before, a user signs in without the lost second factor", async () => {
  const place = await openGateway();
  const { signIn, signedIn, post } = place;
  const waiting = await signIn(bob);
  expect<object>(waiting.json).toEqual({ two_factor: true, user: null });
  expect([await signedIn(place.bobs), await signedIn(waiting.cookie)]).toEqual([true, false]);

  const answer = await place.reset(bob);
  expect([answer.status, answer.json]).toMatchObject([200, { email: bob, two_factor: false, passkeys: 0 }]);
  expect([await signedIn(place.bobs), await signedIn(place.adas)]).toEqual([false, true]);
  // A sign-in from before the reset cannot be completed with an old code.
  const late = await post("/api/auth/two-factor/verify-backup-code", { code: place.backupCodes[0] }, waiting.cookie);
  expect(late.status).toBe(401);
  const now = await signIn(bob);
  expect([now.status, now.json.two_factor, now.json.user?.email]).toEqual([200, false, bob]);
  expect(await signedIn(now.cookie)).toBe(true);
  // A new app can be set up and is required then.
  const again = (await post("/api/auth/two-factor/enable", { password }, now.cookie)).json;
  const code = authenticatorApp(again.totp_uri)();
  expect((await post("/api/auth/two-factor/verify-totp", { code }, now.cookie)).status).toBe(200);
  expect((await signIn(bob)).json.two_factor).toBe(true);
  expect(await place.audit()).toMatchObject([{ actor: ada, action: "remove", object: `second factor ${bob}` }]);
});

test("administrators remove their own second factor on their profile, with the password", async () => {
  const place = await openGateway();
  const own = await place.reset(ada);
  expect([own.status, own.json.error.code]).toEqual([409, "conflict"]);
  expect(own.json.error.message).toContain("profile page");
  expect(await place.audit()).toEqual([]);
});

test("the command line resets a second factor, also the only administrator's", async () => {
  const place = await openGateway();
  const reset = async (...words: readonly string[]) => {
    const { status, stdout, stderr } = await sluice(["user", "reset-second-factor", ...words], place.dataDir);
    return [status, stdout + stderr] as const;
  };
  expect(await reset("nobody@example.org")).toEqual([1, 'sluice: there is no user "nobody@example.org"\n']);
  expect(await reset(ada)).toEqual([1, `sluice: ${ada} has no authenticator app.\n`]);
  expect((await reset())[0]).toBe(2);
  const [status, text] = await reset("Bob@Example.org");
  expect([status, text]).toEqual([0, expect.stringContaining(`${bob}: second factor was removed`)]);
  expect(await place.signedIn(place.bobs)).toBe(false);
  expect((await place.signIn(bob)).json.two_factor).toBe(false);
  expect(await place.audit()).toMatchObject([
    { actor: expect.stringMatching(/^command line \(.+@.+\)$/), object: `second factor ${bob}` },
  ]);
});
