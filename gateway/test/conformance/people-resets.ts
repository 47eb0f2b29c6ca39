import { expect, test } from "bun:test";
import type { PeopleFixture } from "./people-facts.ts";

const auditSource = { actor: "ada@example.com", ip: "192.0.2.1" };

export function resetTests(make: () => Promise<PeopleFixture>): void {
  test("accepts a user's newest password reset once, until it expires", async () => {
    await using fixture = await make();
    const { people, clock } = fixture;
    const [ada, bob] = [await fixture.user("ada"), await fixture.user("bob")];
    const end = clock.now() + 1_000;
    await people.createReset(ada, "old", end, auditSource);
    await people.createReset(ada, "new", end, auditSource);
    await people.createReset(bob, "late", end, auditSource);
    expect(await people.takeReset("old")).toBeNull();
    const both = await Promise.all([people.takeReset("new"), people.takeReset("new")]);
    expect(both.filter((each) => each !== null)).toEqual([{ userId: ada, expiresAt: end }]);
    clock.advance(1_000);
    expect(await people.takeReset("late")).toBeNull();
  });
}
