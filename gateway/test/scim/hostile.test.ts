import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { makeScimTokenSecret } from "#identity/index.ts";
import { entraUser, openScimFixture, patch } from "./scim-fixture.ts";

const filter = (text: string) => `/Users?filter=${encodeURIComponent(text)}`;

test("only a SCIM token opens SCIM, and it opens nothing else", async () => {
  await using fixture = await openScimFixture();
  const admin = await fixture.call("administrator", "tokens.list");
  expect(admin.status).toBe(200);
  const made = makeScimTokenSecret(new Uint8Array(32).fill(9));
  for (const authorization of ["", "Bearer ", "Basic x", `Bearer ${made}`, `Bearer ${"x".repeat(9_000)}`]) {
    const answer = await fixture.send("GET", "/Users", undefined, { authorization });
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, 'Bearer realm="SCIM"']);
  }
  const users = await fixture.call({ token: fixture.secret }, "users.list");
  expect([users.status, users.code]).toEqual([401, "not_signed_in"]);
  // Even if its digest is found: the store distinguishes the two.
  expect(await fixture.people.tokenActor(fixture.vault.digest(fixture.secret))).toBeNull();
});

test("limits a token's calls per minute, and an address's invalid tokens", async () => {
  await using fixture = await openScimFixture();
  const guess = { authorization: `Bearer ${makeScimTokenSecret(new Uint8Array(32).fill(9))}` };
  for (let tries = 0; tries < bounds.scimRefusedCallsMax; tries++)
    await fixture.send("GET", "/Schemas", undefined, guess);
  const refused = await fixture.send("GET", "/Schemas", undefined, guess);
  expect([refused.status, Number(refused.headers.get("retry-after"))]).toEqual([429, bounds.scimCallsMs / 1_000]);
  fixture.clock.advance(bounds.scimCallsMs);
  for (let calls = 0; calls < bounds.scimCallsMax; calls++) await fixture.send("GET", "/none");
  await fixture.refused("GET", "/Schemas", undefined, 429, null);
});

test("counts invalid tokens of addresses in one network together", async () => {
  await using fixture = await openScimFixture();
  const authorization = `Bearer ${makeScimTokenSecret(new Uint8Array(32).fill(9))}`;
  const guess = async (from: string) =>
    (await fixture.send("GET", "/Schemas", undefined, { authorization, from })).status;
  for (let n = 0; n < bounds.scimRefusedCallsMax; n++) expect(await guess(`2001:db8::${n}`)).toBe(401);
  expect([await guess("2001:db8::ffff"), await guess("2001:db8:0:1::1")]).toEqual([429, 401]);
});

test("a large body may have few names and any number of values; one with very many names is refused before it is parsed", async () => {
  await using fixture = await openScimFixture();
  const names = Array.from({ length: 6_000 }, (_, n) => [`attribute-${n}`, 0]);
  const crowd = entraUser("ada", { ...Object.fromEntries(names), title: 'a \\" : ' });
  expect((await fixture.send("POST", "/Users", crowd)).status).toBe(413);
  expect((await fixture.ok("GET", "/Users")).totalResults).toBe(0);
  const { id } = await fixture.ok("POST", "/Users", entraUser("ada", { title: 'a \\" : ' }));
  const members = Array.from({ length: 3_000 }, () => ({ value: id, display: 'said "so": \\', type: "User" }));
  expect((await fixture.ok("POST", "/Groups", { displayName: "G", members })).members).toHaveLength(1);
});

test("limits filters, and explains what is unsupported", async () => {
  await using fixture = await openScimFixture();
  const bombs = [
    "(".repeat(1_000),
    `${"(".repeat(9)}userName eq "a"${")".repeat(9)}`,
    Array.from({ length: 21 }, () => 'userName eq "a"').join(" or "),
    `userName eq "${"a".repeat(bounds.scimFilterCharactersMax)}"`,
    `emails[${"emails[".repeat(50)}`,
    "not ".repeat(400),
    `userName eq "${"\\".repeat(1_000)}`,
    "userName",
    "userName eq",
    'eq "a"',
    'userName like "a"',
    'userName eq "a" and',
    'userName eq "a") or (userName eq "b"',
    'userName eq "a"; drop table scim_users',
    'userName eq {"a": 1}',
    "userName gt 1",
    'password eq "a"',
    'constructor eq "a"',
    '__proto__ eq "a"',
    'active co "t"',
    'meta.lastModified gt "yesterday"',
    'members eq "usr_1"',
    'userName eq "a\\u0000"',
  ];
  for (const bomb of bombs) {
    const answer = await fixture.send("GET", filter(bomb));
    expect([bomb.slice(0, 40), answer.status, answer.body.scimType]).toEqual([bomb.slice(0, 40), 400, "invalidFilter"]);
  }
});

test("filters match literally, including SQL's special characters", async () => {
  await using fixture = await openScimFixture();
  for (const name of ["ada", "per%cent", "under_score"]) {
    await fixture.ok(
      "POST",
      "/Users",
      entraUser(name, { emails: [{ value: `${name.replace("%", "")}@corp.example` }] }),
    );
  }
  const { id } = (await fixture.ok("GET", filter('userName sw "ada"'))).Resources[0];
  await fixture.ok("PATCH", `/Users/${id}`, patch({ op: "replace", path: "active", value: false }));
  const names = async (text: string) =>
    (await fixture.ok("GET", filter(text))).Resources.map(
      ({ userName }: { userName: string }) => userName.split("@")[0],
    );
  const filters: [string, string[]][] = [
    ['userName co "%"', ["per%cent"]],
    ['userName sw "under_"', ["under_score"]],
    ['userName sw "UNDER"', ["under_score"]],
    ['userName ew ".example"', ["ada", "per%cent", "under_score"]],
    ['emails.value eq "ADA@corp.example"', ["ada"]],
    ['emails[type eq "work" and value co "ada"]', ["ada"]],
    ['emails[type eq "work"].value eq "ada@corp.example"', ["ada"]],
    ['externalId eq "object-of-ada"', ["ada"]],
    ['externalId eq "OBJECT-of-ada"', []],
    ["active eq false", ["ada"]],
    ['active eq True and not (userName co "score")', ["per%cent"]],
    ['displayName eq "ADA OF ENTRA" or userName eq "per%cent@corp.example"', ["ada", "per%cent"]],
    ["externalId pr", ["ada", "per%cent", "under_score"]],
    ["externalId eq null", []],
    ['urn:ietf:params:scim:schemas:core:2.0:User:userName eq "ada@corp.example"', ["ada"]],
    [`meta.lastModified ge "${new Date(fixture.clock.now()).toISOString()}"`, ["ada", "per%cent", "under_score"]],
    [`userName eq "x' or '1'='1"`, []],
  ];
  for (const [text, expected] of filters) expect([text, await names(text)]).toEqual([text, expected]);
});

test("refuses bodies of a wrong format with SCIM errors, and changes nothing", async () => {
  await using fixture = await openScimFixture();
  const { id } = await fixture.ok("POST", "/Users", entraUser("ada"));
  const path = `/Users/${id}`;
  const before = await fixture.ok("GET", path);
  const deep = `{"userName":"x@corp.example","name":${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}}`;
  const bodies: [string, string, unknown, number, string | null][] = [
    ["POST", "/Users", "{", 400, "invalidSyntax"],
    ["POST", "/Users", "[]", 400, "invalidSyntax"],
    ["POST", "/Users", '"x"', 400, "invalidSyntax"],
    ["POST", "/Users", {}, 400, "invalidValue"],
    ["POST", "/Users", entraUser("bob", { userName: { a: 1 } }), 400, "invalidValue"],
    ["POST", "/Users", entraUser("bob", { userName: "bob", emails: [] }), 400, "invalidValue"],
    ["POST", "/Users", entraUser("bob", { emails: [{ value: "no address" }] }), 400, "invalidValue"],
    ["POST", "/Users", entraUser("bob", { active: "yes" }), 400, "invalidValue"],
    [
      "POST",
      "/Users",
      entraUser("bob", { emails: Array.from({ length: 21 }, () => ({ value: "a@b.example" })) }),
      400,
      "invalidValue",
    ],
    ["POST", "/Users", entraUser("bob", { displayName: "x".repeat(bounds.scimTextMax + 1) }), 400, "invalidValue"],
    ["POST", "/Users", entraUser("bob", { displayName: "a\u0000b" }), 400, "invalidValue"],
    ["POST", "/Users", entraUser("bob", { title: "x".repeat(bounds.scimBodyBytesMax) }), 413, null],
    ["POST", "/Users", entraUser("ada"), 409, "uniqueness"],
    ["PATCH", path, {}, 400, "invalidSyntax"],
    ["PATCH", path, { Operations: "x" }, 400, "invalidSyntax"],
    ["PATCH", path, patch({ op: "move", path: "active", value: true }), 400, "invalidSyntax"],
    ["PATCH", path, patch({ op: "remove" }), 400, "noTarget"],
    [
      "PATCH",
      path,
      patch({ op: "replace", path: 'emails[type eq "home"].value', value: "a@b.example" }),
      400,
      "noTarget",
    ],
    ["PATCH", path, patch({ op: "replace", path: "id", value: "usr_other" }), 400, "mutability"],
    ["PATCH", path, patch({ op: "replace", path: "groups", value: [] }), 400, "mutability"],
    ["PATCH", path, patch({ op: "remove", path: "userName" }), 400, "mutability"],
    ["PATCH", path, patch({ op: "replace", path: "userName", value: null }), 400, "mutability"],
    ["PATCH", path, patch({ op: "replace", path: "emails[", value: "x" }), 400, "invalidPath"],
    ["PATCH", path, patch({ op: "replace", path: "name.a.b", value: "x" }), 400, "invalidPath"],
    ["PATCH", path, patch({ op: "replace", path: "displayName[value eq 1]", value: "x" }), 400, "invalidPath"],
    ["PATCH", path, patch({ op: "replace", path: 7, value: "x" }), 400, "invalidPath"],
    ["PATCH", path, patch({ op: "replace", value: "x" }), 400, "invalidValue"],
    [
      "PATCH",
      path,
      patch(...Array.from({ length: 1_001 }, () => ({ op: "add", path: "title", value: "x" }))),
      400,
      "invalidSyntax",
    ],
    [
      "PATCH",
      path,
      patch({ op: "replace", path: "displayName", value: "kept?" }, { op: "add", path: "active", value: 7 }),
      400,
      "invalidValue",
    ],
    ["PATCH", "/Users/usr_none", patch({ op: "replace", path: "active", value: false }), 404, null],
    ["DELETE", "/Users/usr_none", undefined, 404, null],
    ["PATCH", "/Users", patch({ op: "add", path: "active", value: true }), 405, null],
    ["POST", "/Groups", { displayName: " " }, 400, "invalidValue"],
    ["POST", "/Groups", { displayName: "G", members: [{ value: "usr_none" }] }, 400, "invalidValue"],
    ["POST", "/Groups", { displayName: "G", members: [{ value: id, type: "Group" }] }, 400, "invalidValue"],
    ["POST", "/Groups", { displayName: "G", members: [7] }, 400, "invalidValue"],
    ["GET", "/Users?count=many", undefined, 400, "invalidValue"],
    ["GET", `/Users?attributes=${"a,".repeat(60)}`, undefined, 400, "invalidValue"],
    ["GET", "/Users/a/b", undefined, 404, null],
    ["POST", "/Bulk", {}, 404, null],
    ["GET", "/Schemas/%E0%A4%A", undefined, 404, null],
  ];
  for (const [method, target, body, status, scimType] of bodies)
    await fixture.refused(method, target, body, status, scimType);
  expect((await fixture.send("POST", "/Users", deep)).status).toBeLessThan(500);
  const type = await fixture.send("POST", "/Users", "<x/>", { "content-type": "text/xml" });
  expect(type.status).toBe(415);
  expect(await fixture.ok("GET", path)).toEqual(before);
  expect((await fixture.ok("GET", "/Groups")).totalResults).toBe(0);
});

test("creates one of two simultaneous users with the same name, and applies one of two changes to the same version", async () => {
  await using fixture = await openScimFixture();
  const both = await Promise.all([1, 2].map(() => fixture.send("POST", "/Users", entraUser("ada"))));
  expect(both.map(({ status }) => status).toSorted()).toEqual([201, 409]);
  const made = both.find(({ status }) => status === 201);
  const headers = { "if-match": made?.headers.get("etag") ?? "" };
  const changes = await Promise.all(
    ["one", "two"].map((value) =>
      fixture.send("PATCH", `/Users/${made?.body.id}`, patch({ op: "replace", path: "title", value }), headers),
    ),
  );
  expect(changes.map(({ status }) => status).toSorted()).toEqual([200, 412]);
  const etag = changes.find(({ status }) => status === 200)?.headers.get("etag") ?? "";
  const same = await fixture.send("GET", `/Users/${made?.body.id}`, undefined, { "if-none-match": etag });
  expect([same.status, same.body]).toEqual([304, null]);
  const groups = await Promise.all([1, 2].map(() => fixture.send("POST", "/Groups", { displayName: "Engineers" })));
  expect(groups.map(({ status }) => status).toSorted()).toEqual([201, 409]);
});

test("lists a thousand users by page, each once, with the requested attributes", async () => {
  await using fixture = await openScimFixture();
  const time = new Date(fixture.clock.now()).toISOString();
  const names = Array.from({ length: 1_000 }, (_, number) => `u${String(number).padStart(4, "0")}@corp.example`);
  const nobody = { email_verified: 0, two_factor_enabled: 0, administrator: 0, disabled: 0 };
  const person = (email: string) => ({
    ...nobody,
    id: `usr_${email}`,
    email,
    name: email,
    created_at: time,
    updated_at: time,
  });
  const at = { version: 1, created_at: fixture.clock.now(), updated_at: fixture.clock.now() };
  for (let start = 0; start < names.length; start += 50) {
    const some = names.slice(start, start + 50);
    await fixture.database.kysely.insertInto("auth_users").values(some.map(person)).execute();
    const rows = some.map((name) => ({
      user_id: `usr_${name}`,
      user_name: name,
      name_key: name,
      attributes: "{}",
      made: 1,
      deactivated: 0,
      ...at,
    }));
    await fixture.database.kysely.insertInto("scim_users").values(rows).execute();
  }
  const seen: string[] = [];
  for (let startIndex = 1; startIndex <= 1_000; startIndex += bounds.scimPageMax) {
    const page = await fixture.ok("GET", `/Users?startIndex=${startIndex}&count=999&attributes=userName`);
    expect(page).toMatchObject({ totalResults: 1_000, startIndex, itemsPerPage: bounds.scimPageMax });
    for (const { userName, ...rest } of page.Resources) {
      seen.push(userName);
      expect(Object.keys(rest).toSorted()).toEqual(["id", "schemas"]);
    }
  }
  expect([seen.length, new Set(seen).size]).toEqual([1_000, 1_000]);
  expect(await fixture.ok("GET", "/Users?count=0")).toMatchObject({ totalResults: 1_000, Resources: [] });
  expect(await fixture.ok("GET", "/Users?startIndex=1001")).toMatchObject({ totalResults: 1_000, itemsPerPage: 0 });
  expect(
    (await fixture.ok("GET", "/Users?startIndex=-5&count=1&excludedAttributes=meta")).Resources[0],
  ).not.toHaveProperty("meta");
});

test("describes its resources and schemas", async () => {
  await using fixture = await openScimFixture();
  const config = await fixture.ok("GET", "/ServiceProviderConfig");
  expect(config).toMatchObject({ patch: { supported: true }, bulk: { supported: false }, etag: { supported: true } });
  const types = await fixture.ok("GET", "/ResourceTypes");
  expect(types.Resources.map(({ id }: { id: string }) => id)).toEqual(["User", "Group"]);
  const schemas = await fixture.ok("GET", "/Schemas");
  expect(schemas.totalResults).toBe(3);
  for (const { id } of schemas.Resources) expect((await fixture.ok("GET", `/Schemas/${id}`)).id).toBe(id);
  expect((await fixture.ok("GET", "/ResourceTypes/User")).endpoint).toBe("/Users");
  await fixture.refused("POST", "/Schemas", {}, 405, null);
});
