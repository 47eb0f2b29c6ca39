import { expect, test } from "bun:test";
import fc from "fast-check";
import { balancesOf, type Spend } from "./opening-balances.ts";

const owner = { workspaceId: "w", groupId: "", keyId: "" };

test("an entry of a key counts for its owner, group and workspace too", () => {
  const spends: readonly Spend[] = [
    { ...owner, usd: 10 },
    { ...owner, groupId: "g", usd: 6 },
    { ...owner, personId: "p", usd: 3 },
    { ...owner, groupId: "g", keyId: "k", personId: "p", usd: 2 },
    { ...owner, workspaceId: "other", usd: 1 },
  ];
  expect(
    balancesOf(spends, "imp", 5).map(({ nanoUsd, keyId, personId, groupId }) => [
      nanoUsd / 1e9,
      keyId,
      personId,
      groupId,
    ]),
  ).toEqual([
    [2, "k", "p", "g"],
    [1, "", "p", ""],
    [4, "", undefined, "g"],
    [3, "", undefined, ""],
    [1, "", undefined, ""],
  ]);
});

test("the parts of a workspace always add up to its spend, also if keys have spent more", () => {
  const key = fc.record({
    group: fc.constantFrom("a", "b"),
    person: fc.option(fc.constantFrom("p", "q")),
    usd: fc.nat(1_000),
  });
  fc.assert(
    fc.property(fc.array(key, { maxLength: 12 }), fc.nat(1_000), fc.nat(1_000), (keys, group, whole) => {
      const spends = keys.map(({ group: groupId, person, usd }, n): Spend => {
        return { ...owner, groupId, keyId: `k${n}`, ...(person === null ? {} : { personId: person }), usd };
      });
      const balances = balancesOf(
        [{ ...owner, usd: whole }, { ...owner, groupId: "a", usd: group }, ...spends],
        "imp",
        0,
      );
      const sum = (rows: typeof balances) => rows.reduce((all, { nanoUsd }) => all + nanoUsd, 0) / 1e9;
      expect(sum(balances)).toBe(whole);
      expect(sum(balances.filter(({ groupId }) => groupId === "a"))).toBe(group);
    }),
  );
});
