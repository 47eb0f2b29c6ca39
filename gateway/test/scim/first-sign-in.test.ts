import { afterEach, expect, test } from "bun:test";
import { createPeopleStore, createScimStore } from "#directory/index.ts";
import type { Database } from "#storage/index.ts";
import { createIds, systemClock } from "#system/index.ts";
import { openMigrated } from "../migrated.ts";
import { type Ground, openGround } from "../sign-in/ground.ts";
import { Issuer } from "../sign-in/issuer.ts";
import { comeBack } from "../sign-in/oidc-trips.ts";

const issuers: Issuer[] = [];
afterEach(() => {
  for (const issuer of issuers.splice(0)) issuer.stop();
});

const by = { actor: "SCIM (token test)", ip: null };
const home = "/console/keys";

async function open(domains: readonly string[], directoryClaim: string | null = null) {
  const issuer = new Issuer();
  issuers.push(issuer);
  const database: Database = await openMigrated(":memory:");
  const options = { database, clock: systemClock, ids: createIds(systemClock) };
  // Nothing is sealed here: there are no rules.
  const scim = createScimStore({ ...options, vault: null as never });
  const ground = await openGround(
    {
      oidc: [issuer.account({ allowedDomains: [...domains], directoryClaim })],
      connect: (identity) => scim.connect(identity),
    },
    database,
  );
  const add = async (name: string) => {
    const email = `${name}@corp.example`;
    const form = { userName: email, externalId: `object-of-${name}`, active: true, email, name, attributes: {} };
    return await scim.createUser(form, by);
  };
  return { issuer, ground, scim, add, people: createPeopleStore(options) };
}

/** Where somebody ends up who comes from the issuer with these claims, and as whom. */
async function travel(ground: Ground, issuer: Issuer, claims: object) {
  issuer.answers = { claims: claims as never };
  const browser = ground.browser();
  const { json } = await browser.post("/api/auth/sign-in/social", { provider: "corp", page: home });
  const where = (await comeBack(browser, issuer.consent(json.url))).headers.get("location");
  return [where, (await browser.session())?.user.email ?? null];
}

test("whom a directory made signs in by an issuer of their domain: by a verified address, or by the directory's own id", async () => {
  const { issuer, ground, scim, add } = await open(["corp.example"], "oid");
  const [ada, bob] = [await add("ada"), await add("bob")];
  const first = { sub: "s-ada", email: "ADA@corp.example", email_verified: true };
  expect(await travel(ground, issuer, first)).toEqual([home, "ada@corp.example"]);
  // From then on it is the identity that counts, whatever its address.
  expect(await travel(ground, issuer, { ...first, email: "l@corp.example" })).toEqual([home, "ada@corp.example"]);
  const known = { sub: "s-bob", oid: "object-of-bob", email: "b@corp.example", email_verified: true };
  expect(await travel(ground, issuer, known)).toEqual([home, "bob@corp.example"]);
  // Switched off, nobody comes in.
  for (const { id } of [ada, bob]) await scim.changeUser(id, (before) => ({ ...before, active: false }), by);
  expect(await travel(ground, issuer, first)).toEqual(["/console/sign-in?error=no_access", null]);
});

test("a claim that the account does not name, and an address that is not verified, lead to nobody", async () => {
  const refused = ["/console/sign-in?error=email_not_verified", null];
  const evil = { sub: "evilsub", oid: "object-of-ada", email: "evil@corp.example", email_verified: false };
  // The directory's id counts where the account names its claim, and with a verified address alone.
  for (const claim of ["oid", null]) {
    const { issuer, ground, add } = await open(["corp.example"], claim);
    await add("ada");
    expect(await travel(ground, issuer, evil)).toEqual(refused);
  }
  const { issuer, ground, add } = await open(["corp.example"]);
  await add("ada");
  for (const claims of [evil, { ...evil, sub: "object-of-ada", oid: undefined, email: "eve@corp.example" }]) {
    const verified = { ...claims, email_verified: true };
    // A person of their own.
    expect(await travel(ground, issuer, verified)).toEqual([home, claims.email]);
  }
});

test("an issuer of other domains, another identity and an administrator open nothing", async () => {
  const { issuer, ground, add, people } = await open(["partner.example"]);
  const ada = await add("ada");
  const [asked] = await travel(ground, issuer, {
    sub: "s",
    oid: "object-of-ada",
    email: "x@partner.example",
    email_verified: true,
  });
  expect(asked).toBe(home);
  expect((await people.user(ada.id))?.email).toBe("ada@corp.example");
  const here = await open(["corp.example"]);
  const eve = await here.add("eve");
  await here.people.updateUser(eve.id, { administrator: true }, by);
  const taken = { sub: "s-eve", email: "eve@corp.example", email_verified: true };
  expect(await travel(here.ground, here.issuer, taken)).toEqual([
    "/console/sign-in?error=account_exists&provider=corp",
    null,
  ]);
});
