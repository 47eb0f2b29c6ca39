import { afterEach, expect, test } from "bun:test";
import { createPeopleStore, createScimStore } from "#directory/index.ts";
import type { Transport } from "#ports/index.ts";
import type { Database } from "#storage/index.ts";
import { createIds, systemClock } from "#system/index.ts";
import { createTransport } from "#upstream/index.ts";
import { openMigrated } from "../migrated.ts";
import { transportOf } from "../sending-transport.ts";
import { type Fixture, openFixture } from "../sign-in/fixture.ts";
import { Issuer } from "../sign-in/issuer.ts";
import { returnFromIssuer } from "../sign-in/oidc-trips.ts";

const issuers: Issuer[] = [];
afterEach(() => {
  for (const issuer of issuers.splice(0)) issuer.stop();
});

const by = { actor: "SCIM (token test)", ip: null };
const home = "/console/keys";

/** `host`: the issuer's public host, instead of its local address. */
async function open(domains: readonly string[], directoryClaim: string | null = null, host: string | null = null) {
  const issuer = new Issuer();
  issuers.push(issuer);
  const database: Database = await openMigrated(":memory:");
  const options = { database, clock: systemClock, ids: createIds(systemClock) };
  // Nothing is encrypted here: there are no rules.
  const scim = createScimStore({ ...options, vault: null as never });
  const fixture = await openFixture(
    {
      oidc: [
        issuer.account({ allowedDomains: [...domains], directoryClaim, ...(host === null ? {} : at(issuer, host)) }),
      ],
      ...(host === null ? {} : { transport: transportTo(issuer, host) }),
      connect: (identity) => scim.connect(identity),
    },
    database,
  );
  const add = async (name: string) => {
    const email = `${name}@corp.example`;
    const form = { userName: email, externalId: `object-of-${name}`, active: true, email, name, attributes: {} };
    return await scim.createUser(form, by);
  };
  return { issuer, fixture, scim, add, people: createPeopleStore(options) };
}

/** The issuer as seen at this host. */
function at(issuer: Issuer, host: string): { readonly issuer: string } {
  const own = `https://${host}/tenant/v2.0`;
  issuer.metadata = {
    issuer: own,
    authorization_endpoint: `${own}/authorize`,
    token_endpoint: `${own}/token`,
    jwks_uri: `${own}/keys`,
    userinfo_endpoint: `${own}/userinfo`,
  };
  return { issuer: own };
}

/** Redirects the host to the issuer's real address. */
function transportTo(issuer: Issuer, host: string): Transport {
  const transport = createTransport({ clock: systemClock });
  const own = `https://${host}/tenant/v2.0`;
  return transportOf((request, signal) =>
    transport.send({ ...request, url: request.url.replace(own, issuer.url), allowPrivateNetwork: true }, signal),
  );
}

/** Signs in through the issuer with these claims. Returns the final page and the user. */
async function signInThrough(fixture: Fixture, issuer: Issuer, claims: object, iss: string = issuer.url) {
  issuer.answers = { claims: claims as never, iss };
  const browser = fixture.browser();
  const { json } = await browser.post("/api/auth/sign-in/social", { provider: "corp", page: home });
  const where = (await returnFromIssuer(browser, issuer.consent(json.url))).headers.get("location");
  return [where, (await browser.session())?.user.email ?? null];
}

test("a user created by the directory signs in through an issuer of their domain, by a verified address or the directory's id", async () => {
  const { issuer, fixture, scim, add } = await open(["corp.example"], "oid");
  const [ada, bob] = [await add("ada"), await add("bob")];
  const first = { sub: "s-ada", email: "ADA@corp.example", email_verified: true };
  expect(await signInThrough(fixture, issuer, first)).toEqual([home, "ada@corp.example"]);
  // From then on the identity counts, with any address.
  expect(await signInThrough(fixture, issuer, { ...first, email: "l@corp.example" })).toEqual([
    home,
    "ada@corp.example",
  ]);
  const bobsClaims = { sub: "s-bob", oid: "object-of-bob", email: "b@corp.example", email_verified: true };
  expect(await signInThrough(fixture, issuer, bobsClaims)).toEqual([home, "bob@corp.example"]);
  // A deactivated user cannot sign in.
  for (const { id } of [ada, bob]) await scim.changeUser(id, (before) => ({ ...before, active: false }), by);
  expect(await signInThrough(fixture, issuer, first)).toEqual(["/console/sign-in?error=no_access", null]);
});

test("an unconfigured claim, and an unverified address, match no user", async () => {
  const refused = ["/console/sign-in?error=email_not_verified", null];
  const evil = { sub: "evilsub", oid: "object-of-ada", email: "evil@corp.example", email_verified: false };
  // The directory's id counts only in the configured claim and with a verified address.
  for (const claim of ["oid", null]) {
    const { issuer, fixture, add } = await open(["corp.example"], claim);
    await add("ada");
    expect(await signInThrough(fixture, issuer, evil)).toEqual(refused);
  }
  const { issuer, fixture, add } = await open(["corp.example"]);
  await add("ada");
  for (const claims of [evil, { ...evil, sub: "object-of-ada", oid: undefined, email: "eve@corp.example" }]) {
    const verified = { ...claims, email_verified: true };
    // A separate person.
    expect(await signInThrough(fixture, issuer, verified)).toEqual([home, claims.email]);
  }
});

test("an issuer of other domains, another identity and an administrator's address match no user", async () => {
  const { issuer, fixture, add, people } = await open(["partner.example"]);
  const ada = await add("ada");
  const [page] = await signInThrough(fixture, issuer, {
    sub: "s",
    oid: "object-of-ada",
    email: "x@partner.example",
    email_verified: true,
  });
  expect(page).toBe(home);
  expect((await people.user(ada.id))?.email).toBe("ada@corp.example");
  const here = await open(["corp.example"]);
  const eve = await here.add("eve");
  await here.people.updateUser(eve.id, { administrator: true }, by);
  const evesClaims = { sub: "s-eve", email: "eve@corp.example", email_verified: true };
  expect(await signInThrough(here.fixture, here.issuer, evesClaims)).toEqual([
    "/console/sign-in?error=account_exists&provider=corp",
    null,
  ]);
});

/** The claims of Entra ID. `xms_edov` states whether the domain of the address was verified. */
async function fromMicrosoft(host: string, claims: object) {
  const { issuer, fixture, add } = await open(["corp.example"], null, host);
  await add("ada");
  const iss = `https://${host}/tenant/v2.0`;
  const allClaims = {
    iss,
    sub: "s-ada",
    oid: "object-of-ada",
    email: "other@corp.example",
    email_verified: undefined,
    ...claims,
  };
  return await signInThrough(fixture, issuer, allClaims, iss);
}

test.each([
  "login.microsoftonline.com",
  "login.microsoftonline.us",
  "login.partner.microsoftonline.cn",
  "sts.windows.net",
])("an account at %s needs no configured claim: its `oid` is the directory's id", async (host) => {
  expect(await fromMicrosoft(host, { xms_edov: true })).toEqual([home, "ada@corp.example"]);
});

test.each([true, "true", 1, "1"])("Microsoft's `xms_edov` of %p means a verified address", async (xms_edov) => {
  expect(await fromMicrosoft("login.microsoftonline.com", { xms_edov })).toEqual([home, "ada@corp.example"]);
});

test.each([false, "false", 0, "0", null, undefined])(
  "Microsoft's `oid` matches no user with an `xms_edov` of %p",
  async (xms_edov) => {
    expect(await fromMicrosoft("login.microsoftonline.com", { xms_edov })).toEqual([
      "/console/sign-in?error=email_not_verified",
      null,
    ]);
  },
);

test.each([
  "login.microsoftonline.com.evil.example",
  "evil-login.microsoftonline.com",
  "login-microsoftonline.com",
  "sts.windows.net.evil.example",
])("at %s, which is not Microsoft's, neither `xms_edov` nor `oid` counts", async (host) => {
  expect(await fromMicrosoft(host, { xms_edov: true })).toEqual(["/console/sign-in?error=email_not_verified", null]);
  expect(await fromMicrosoft(host, { xms_edov: true, email_verified: true })).toEqual([home, "other@corp.example"]);
});
