import { expect, test } from "bun:test";
import { createSetup, makeFirstAdministrator } from "#identity/index.ts";
import { alice, cheapHash, type Fixture, openFixture, password } from "./fixture.ts";

const token = "a-one-time-token-of-this-test";

async function createGateway() {
  const fixture = await openFixture({ hashPassword: cheapHash });
  const { people } = fixture;
  return { fixture, people, parts: { signIn: fixture.signIn, people } };
}

async function signsIn(fixture: Fixture, email: string, text: string): Promise<boolean> {
  return (await fixture.browser().signInWith(email, text)).status === 200;
}

test("the setup link creates an administrator who signs in with the chosen password", async () => {
  const { fixture, people, parts } = await createGateway();
  const setup = await createSetup({ ...parts, randomToken: () => token });
  await setup.complete({ token, email: alice.email, password, ip: "192.0.2.1" });
  expect(await signsIn(fixture, alice.email, password)).toBe(true);
  expect(await people.userByEmail(alice.email)).toMatchObject({ administrator: true, disabled: false });
  const audit = await fixture.database.kysely.selectFrom("audit_log").selectAll().execute();
  const entry = { actor: alice.email, ip: "192.0.2.1", object: `user ${alice.email}` };
  expect(audit).toMatchObject([
    { ...entry, action: "create" },
    { ...entry, action: "update" },
  ]);
  expect(JSON.stringify(audit)).not.toMatch(/argon2|correct horse/);
});

test("an existing user becomes the first administrator, with the new password", async () => {
  const { fixture, people, parts } = await createGateway();
  await fixture.createUser({ ...alice, password: "the password of the first try" });
  expect(await people.administratorExists()).toBe(false);
  expect(await makeFirstAdministrator(parts, { email: "Alice@Example.org", password }, null)).toBe(true);
  expect(await signsIn(fixture, alice.email, "the password of the first try")).toBe(false);
  expect(await signsIn(fixture, alice.email, password)).toBe(true);
  expect((await people.listUsers({}, null, 9)).data).toHaveLength(1);
  const audit = await fixture.database.kysely.selectFrom("audit_log").select("action").execute();
  expect(audit).toEqual([{ action: "create" }, { action: "update" }]);
});

test("of two concurrent set-ups one creates an administrator, and the other creates no user", async () => {
  const { people, parts } = await createGateway();
  const made = await Promise.all([
    makeFirstAdministrator(parts, { email: alice.email, password }, null),
    makeFirstAdministrator(parts, { email: "bob@example.org", password }, null),
  ]);
  expect(made.toSorted()).toEqual([false, true]);
  expect((await people.listUsers({}, null, 9)).data).toMatchObject([{ administrator: true }]);
  expect(await makeFirstAdministrator(parts, { email: "carl@example.org", password }, null)).toBe(false);
  expect(await people.userByEmail("carl@example.org")).toBeNull();
});
