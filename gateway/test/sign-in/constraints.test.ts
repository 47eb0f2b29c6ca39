import { expect, test } from "bun:test";
import { alice, openFixture } from "./fixture.ts";

test("the database rejects a second user with the same address, and rows without a user", async () => {
  const fixture = await openFixture();
  const user = await fixture.createUser(alice);
  const { kysely } = fixture.database;
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
