import { expect, test } from "bun:test";
import { openScimFixture, patch } from "./scim-fixture.ts";

const oktaUser = (name: string, more: object = {}) => ({
  schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"],
  userName: `${name}@corp.example`,
  name: { givenName: name, familyName: "Okta" },
  emails: [{ primary: true, value: `${name}@corp.example`, type: "work" }],
  displayName: `${name} Okta`,
  locale: "en-US",
  externalId: `00u-${name}`,
  groups: [],
  password: "1mz050nq",
  active: true,
  ...more,
});

/** The requests of Okta's SCIM 2.0 integration. */
test("Okta: creates a user with a password that is not stored, replaces it as a whole, and deactivates and reactivates it", async () => {
  await using fixture = await openScimFixture();
  const { ok } = fixture;
  const query = `/Users?filter=${encodeURIComponent('userName eq "ada@corp.example"')}&startIndex=1&count=100`;
  expect((await ok("GET", query)).totalResults).toBe(0);
  const made = await ok("POST", "/Users", oktaUser("ada"));
  expect(JSON.stringify(made)).not.toContain("1mz050nq");
  const path = `/Users/${made.id}`;
  const whole = { ...oktaUser("ada"), id: made.id, meta: made.meta, displayName: "Ada L.", name: { givenName: "Ada" } };
  expect(await ok("PUT", path, whole)).toMatchObject({ displayName: "Ada L.", name: { givenName: "Ada" } });
  expect((await ok("GET", path)).name).not.toHaveProperty("familyName");
  expect(await ok("PATCH", path, patch({ op: "replace", value: { active: false } }))).toMatchObject({ active: false });
  // A whole body without `active` does not reactivate the user.
  const { active: _active, ...silent } = whole;
  expect(await ok("PUT", path, silent)).toMatchObject({ active: false });
  expect(await ok("PUT", path, { ...whole, active: true })).toMatchObject({ active: true });
  expect(await fixture.people.user(made.id)).toMatchObject({ disabled: false, name: "Ada L." });
});

test("Okta: pushes groups with members, renames them with their id in the value, and replaces them", async () => {
  await using fixture = await openScimFixture();
  const { ok } = fixture;
  const [ada, bob] = [await ok("POST", "/Users", oktaUser("ada")), await ok("POST", "/Users", oktaUser("bob"))];
  const group = await ok("POST", "/Groups", {
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:Group"],
    displayName: "Pushed",
    members: [{ value: ada.id, display: "ada@corp.example" }],
  });
  expect(group.members).toMatchObject([{ value: ada.id, type: "User", display: "ada Okta" }]);
  const path = `/Groups/${group.id}`;
  const renamed = patch({ op: "replace", value: { id: group.id, displayName: "Pushed again" } });
  expect((await fixture.send("PATCH", path, renamed)).status).toBe(204);
  const both = patch(
    { op: "remove", path: `members[value eq "${ada.id}"]` },
    { op: "add", path: "members", value: [{ value: bob.id, display: "bob@corp.example" }] },
  );
  await ok("PATCH", path, both);
  expect(await ok("GET", path)).toMatchObject({ displayName: "Pushed again", members: [{ value: bob.id }] });
  await ok("PATCH", path, patch({ op: "replace", path: "members", value: [{ value: ada.id }] }));
  expect((await ok("GET", path)).members.map((member: { value: string }) => member.value)).toEqual([ada.id]);
  const put = await ok("PUT", path, { displayName: "Pushed", members: [{ value: ada.id }, { value: bob.id }] });
  expect(put.members).toHaveLength(2);
  expect((await ok("GET", `/Groups?startIndex=1&count=100`)).Resources).toHaveLength(1);
});
