import { expect, test } from "bun:test";
import { hashPassword, migrate, openDatabase } from "#storage/index.ts";
import { migrations } from "../../src/storage/database/migrate.ts";
import { alice, openGround, password } from "./ground.ts";

test("an administrator of an earlier version signs in with the same password, and is an administrator", async () => {
  const database = openDatabase({ path: ":memory:" });
  const before = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < "005"));
  await migrate(database, before);
  const at = Date.UTC(2026, 5, 1);
  const rows = [
    { id: "adm_1", email: "Root@Example.org", password_hash: await hashPassword(password), created_at: at },
    { id: "adm_2", email: alice.email, password_hash: await hashPassword("another phrase altogether"), created_at: at },
  ];
  const earlier = database.kysely.withTables<{ administrators: (typeof rows)[number] }>();
  for (const row of rows) await earlier.insertInto("administrators").values(row).execute();
  await migrate(database);

  const ground = await openGround({ kysely: database.kysely });
  const browser = ground.browser();
  expect((await browser.signInWith("root@example.org", password)).json.user).toEqual({
    id: "adm_1",
    email: "root@example.org",
    name: "root",
  });
  expect((await browser.session())?.user.createdAt).toBe(at);
  expect((await ground.browser().signInWith(alice.email, password)).status).toBe(401);
  expect((await ground.browser().signInWith(alice.email, "another phrase altogether")).status).toBe(200);
  const users = await database.kysely.selectFrom("auth_users").select(["id", "administrator", "disabled"]).execute();
  expect(users).toEqual([
    { id: "adm_1", administrator: 1, disabled: 0 },
    { id: "adm_2", administrator: 1, disabled: 0 },
  ]);
  await database.kysely.destroy();
});

test("the database takes no second user of one address, and nothing that belongs to nobody", async () => {
  const ground = await openGround();
  const user = await ground.signIn.createUser(alice);
  const { kysely } = ground.database;
  const row = await kysely.selectFrom("auth_users").selectAll().executeTakeFirstOrThrow();
  await expect(
    kysely
      .insertInto("auth_users")
      .values({ ...row, id: "usr_2" })
      .execute(),
  ).rejects.toThrow(/UNIQUE/);
  const account = await kysely.selectFrom("auth_accounts").selectAll().executeTakeFirstOrThrow();
  const orphan = { ...account, id: "acc_2", account_id: "usr_2", user_id: "usr_nobody" };
  await expect(kysely.insertInto("auth_accounts").values(orphan).execute()).rejects.toThrow(/FOREIGN KEY/);
  const twin = { ...account, id: "acc_2", user_id: user.id };
  await expect(kysely.insertInto("auth_accounts").values(twin).execute()).rejects.toThrow(/UNIQUE/);
});
