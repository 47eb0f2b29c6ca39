import { expect, test } from "bun:test";
import { entraUser, openScimFixture, patch } from "./scim-fixture.ts";

/** The requests of Microsoft Entra ID's provisioning service, in order. */
test("Entra ID: tests the connection, then finds, creates, changes and deactivates a user", async () => {
  await using fixture = await openScimFixture();
  const { ok } = fixture;
  const filter = (value: string) => `/Users?filter=${encodeURIComponent(`userName eq "${value}"`)}`;
  expect(await ok("GET", filter("5a2f-not-there"))).toEqual({
    schemas: ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
    totalResults: 0,
    startIndex: 1,
    itemsPerPage: 0,
    Resources: [],
  });
  const made = await fixture.send("POST", "/Users", entraUser("ada"));
  expect(made.status).toBe(201);
  const { id } = made.body;
  expect(made.headers.get("location")).toBe(`https://gateway.example/scim/v2/Users/${made.body.id}`);
  expect(made.headers.get("etag")).toBe(made.body.meta.version);
  expect(made.body).toMatchObject({
    externalId: "object-of-ada",
    userName: "ada@corp.example",
    active: true,
    displayName: "ada of Entra",
    emails: [{ primary: true, type: "work", value: "ada@corp.example" }],
    name: { familyName: "Family" },
    "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User": { department: "R&D" },
  });
  expect(made.body).not.toHaveProperty("addresses");
  expect((await ok("GET", filter("ADA@corp.example"))).Resources[0].id).toBe(id);

  const changed = await ok(
    "PATCH",
    `/Users/${id}`,
    patch(
      { op: "Replace", path: 'emails[type eq "work"].value', value: "ada.l@corp.example" },
      { op: "Replace", path: "name.familyName", value: "Lovelace" },
      { op: "Add", path: "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:costCenter", value: "42" },
      { op: "Add", path: 'phoneNumbers[type eq "mobile"].value', value: "+49 30 1" },
      { op: "Add", path: 'addresses[type eq "work"].formatted', value: "somewhere" },
      { op: "Add", path: "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:manager", value: "usr_x" },
    ),
  );
  expect(changed).toMatchObject({
    emails: [{ type: "work", value: "ada.l@corp.example", primary: true }],
    name: { familyName: "Lovelace", givenName: "ada" },
    "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User": { department: "R&D", costCenter: "42" },
  });
  expect(await fixture.people.user(id)).toMatchObject({ email: "ada.l@corp.example", name: "ada of Entra" });

  const off = await ok("PATCH", `/Users/${id}`, patch({ op: "Replace", path: "active", value: "False" }));
  expect(off.active).toBe(false);
  expect(await fixture.people.user(id)).toMatchObject({ disabled: true });
  const on = await ok(
    "PATCH",
    `/Users/${id}`,
    patch({
      op: "Add",
      value: {
        active: "True",
        displayName: "Ada",
        'emails[type eq "home"].value': "ada@home.example",
        "name.givenName": "Ada",
        "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department": "Engines",
      },
    }),
  );
  expect(on).toMatchObject({
    active: true,
    displayName: "Ada",
    name: { givenName: "Ada", familyName: "Lovelace" },
    emails: [{ value: "ada.l@corp.example" }, { value: "ada@home.example", type: "home" }],
    "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User": { department: "Engines" },
  });
  expect(await fixture.people.user(id)).toMatchObject({ disabled: false, name: "Ada", email: "ada.l@corp.example" });

  expect((await fixture.send("DELETE", `/Users/${id}`)).status).toBe(204);
  await fixture.refused("GET", `/Users/${id}`, undefined, 404, null);
  await fixture.refused("PATCH", `/Users/${id}`, patch({ op: "replace", path: "active", value: true }), 404, null);
  expect(await fixture.people.user(id)).toMatchObject({ disabled: true });
});

test("Entra ID: creates a group without members, adds them one by one, and removes them by path and by value", async () => {
  await using fixture = await openScimFixture();
  const { ok } = fixture;
  const ids: string[] = [];
  for (const name of ["ada", "bob", "carl"]) ids.push((await ok("POST", "/Users", entraUser(name))).id);
  const [ada = "", bob = "", carl = ""] = ids;
  const group = await ok("POST", "/Groups", {
    schemas: [
      "urn:ietf:params:scim:schemas:core:2.0:Group",
      "http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group",
    ],
    externalId: "object-of-engineers",
    displayName: "Engineers",
    meta: { resourceType: "Group" },
  });
  expect(group).toMatchObject({ displayName: "Engineers", externalId: "object-of-engineers", members: [] });
  const path = `/Groups/${group.id}`;
  const members = async () =>
    (await ok("GET", path)).members.map((member: { value: string }) => member.value).toSorted();
  for (const value of ids) {
    const added = await fixture.send(
      "PATCH",
      path,
      patch({ op: "Add", path: "members", value: [{ $ref: null, value }] }),
    );
    expect(added.status).toBe(204);
  }
  expect(await members()).toEqual(ids.toSorted());
  expect((await ok("GET", `/Users/${ada}`)).groups).toEqual([
    { value: group.id, $ref: `https://gateway.example/scim/v2${path}`, display: "Engineers", type: "direct" },
  ]);
  await fixture.send("PATCH", path, patch({ op: "Remove", path: "members", value: [{ $ref: null, value: ada }] }));
  await fixture.send("PATCH", path, patch({ op: "Remove", path: `members[value eq "${bob}"]` }));
  expect(await members()).toEqual([carl]);
  await fixture.send("PATCH", path, patch({ op: "Replace", path: "displayName", value: "Makers" }));
  const filter = encodeURIComponent(`displayName eq "makers"`);
  const found = await ok("GET", `/Groups?excludedAttributes=members&filter=${filter}`);
  expect(found.Resources[0]).toMatchObject({ id: group.id, displayName: "Makers" });
  expect(found.Resources[0]).not.toHaveProperty("members");
  const held = async (user: string) =>
    (await ok("GET", `/Groups?filter=${encodeURIComponent(`id eq "${group.id}" and members eq "${user}"`)}`))
      .totalResults;
  expect([await held(carl), await held(ada)]).toEqual([1, 0]);
  await fixture.send("PATCH", path, patch({ op: "Remove", path: "members" }));
  expect(await members()).toEqual([]);
  expect((await fixture.send("DELETE", path)).status).toBe(204);
  await fixture.refused("GET", path, undefined, 404, null);
});
