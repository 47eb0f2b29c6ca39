import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { addressAllowed } from "./authenticator.ts";
import { type BoundedKey, bindsKey, enforcedBy, keyBounds, widenedBounds } from "./key-bounds.ts";
import { matches } from "./model-grant.ts";

const fail = fc.constantFrom(undefined, "open" as const, "closed" as const);
const figure = fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined });
const pattern = fc.stringMatching(/^[ab*]{1,4}$/);
const range = fc.oneof(
  fc.tuple(fc.constantFrom("10.0.0.0", "10.0.0.128", "10.0.1.0", "11.0.0.0"), fc.integer({ min: 0, max: 32 })),
  fc.tuple(fc.constantFrom("2001:db8::", "2001:db8:1::"), fc.integer({ min: 0, max: 128 })),
);
const bounded: fc.Arbitrary<BoundedKey> = fc.record({
  enabled: fc.boolean(),
  group: fc.constantFrom({ id: "grp_1", name: "default" }, { id: "grp_2", name: "wide" }),
  models: fc.option(fc.array(pattern, { maxLength: 3 })),
  enforce_models: fc.boolean(),
  enforce_allowed_ips: fc.boolean(),
  allowed_ips: fc.option(
    fc.array(
      range.map(([address, bits]) => `${address}/${bits}`),
      { maxLength: 3 },
    ),
  ),
  expires_at: fc.option(fc.integer({ min: 1, max: 5 })),
  limits: fc.record({ rpm: figure, tpm: figure, concurrency: figure, fail }).map(withoutUndefined),
  budget: fc.option(
    fc
      .record({ usd: fc.integer({ min: 0, max: 5 }), period: fc.constantFrom("day", "month", "total"), fail })
      .map(withoutUndefined),
  ),
  tags: fc.dictionary(fc.constantFrom("team", "stage"), fc.constantFrom("a", "b")),
  capture: fc.constantFrom("none", "headers", "bodies"),
}) as fc.Arbitrary<BoundedKey>;

/** All names of up to five characters from two. */
const names = Array.from({ length: 62 }, (_, index) =>
  (index + 2).toString(2).slice(1).replace(/0/g, "a").replace(/1/g, "b"),
);
const addresses = ["10.0.0.1", "10.0.0.200", "10.0.1.7", "11.0.0.1", "12.0.0.1", "2001:db8::1", "2001:db8:1::1", "::1"];

describe("a change that widens no field", () => {
  test("allows nothing that was not allowed before", () => {
    fc.assert(
      fc.property(bounded, bounded, fc.constantFrom(...keyBounds), (before, other, name) => {
        const after = withBound(before, other, name);
        if (!isTighter(before, after)) return;
        expect(Number(after.enabled)).toBeLessThanOrEqual(Number(before.enabled));
        for (const name of names) {
          if (mayUse(after, "models", (patterns) => matches(patterns, name))) {
            expect(mayUse(before, "models", (patterns) => matches(patterns, name))).toBe(true);
          }
        }
        for (const address of addresses) {
          if (mayUse(after, "allowed_ips", (ranges) => addressAllowed(ranges, address))) {
            expect(mayUse(before, "allowed_ips", (ranges) => addressAllowed(ranges, address))).toBe(true);
          }
        }
        const most = (value: number | null | undefined) => value ?? Number.POSITIVE_INFINITY;
        expect(most(after.expires_at)).toBeLessThanOrEqual(most(before.expires_at));
        for (const name of ["rpm", "tpm", "concurrency"] as const) {
          expect(most(after.limits[name])).toBeLessThanOrEqual(most(before.limits[name]));
        }
        if (before.budget !== null) {
          expect(after.budget?.period).toBe(before.budget.period);
          expect(most(after.budget?.usd)).toBeLessThanOrEqual(before.budget.usd);
        }
        expect(after.tags).toMatchObject(before.tags);
      }),
      { numRuns: 5_000 },
    );
  });

  test("is decided field by field, and is transitive", () => {
    fc.assert(
      fc.property(bounded, bounded, bounded, (one, two, three) => {
        expect(isTighter(one, one)).toBe(true);
        expect(isTighter(one, two)).toBe(keyBounds.every((name) => isTighter(one, withBound(one, two, name))));
        if (isTighter(one, two) && isTighter(two, three)) expect(isTighter(one, three)).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });

  test("is any change of a field that does not limit the key", () => {
    fc.assert(
      fc.property(bounded, bounded, (before, after) => {
        for (const name of widenedBounds(before, after)) {
          if (name !== "tags") expect(bindsKey(name, before)).toBe(true);
        }
      }),
    );
  });
});

const base: BoundedKey = {
  enabled: true,
  group: { id: "grp_1", name: "default" },
  models: ["gpt-*", "claude-opus"],
  enforce_models: true,
  enforce_allowed_ips: true,
  allowed_ips: ["10.0.0.0/8", "203.0.113.7", "2001:db8::/32"],
  expires_at: 1_000,
  limits: { rpm: 10, fail: "closed" },
  budget: { usd: 5, period: "month" },
  tags: { team: "build" },
  capture: "none",
};

test.each([
  ["models", ["gpt-4*", "gpt-"], true],
  ["models", ["claude-opus"], true],
  ["models", [], true],
  ["models", ["g*"], false],
  ["models", ["*"], false],
  ["models", null, false],
  ["models", ["claude-opus*"], false],
  ["allowed_ips", ["10.1.2.3", "203.0.113.7/32", "2001:db8:1::/48"], true],
  ["allowed_ips", ["0.0.0.0/0"], false],
  ["allowed_ips", ["10.0.0.0/7"], false],
  ["allowed_ips", ["203.0.113.0/24"], false],
  ["allowed_ips", ["2001:db8::/31"], false],
  ["allowed_ips", null, false],
  ["expires_at", 999, true],
  ["expires_at", 1_001, false],
  ["expires_at", null, false],
  ["limits", { rpm: 9, tpm: 4, fail: "closed" }, true],
  ["limits", { rpm: 10 }, false],
  ["limits", { rpm: 10, fail: "open" }, false],
  ["limits", { tpm: 1, fail: "closed" }, false],
  ["limits", { rpm: 9, fail: "closed", enforce: false }, false],
  ["limits", {}, false],
  ["budget", { usd: 4.99, period: "month" }, true],
  ["budget", { usd: 4.99, period: "month", fail: "closed" }, true],
  ["budget", { usd: 5, period: "month", fail: "open" }, false],
  ["budget", { usd: 4, period: "month", fail: "closed", enforce: false }, false],
  ["budget", { usd: 1, period: "day" }, false],
  ["budget", null, false],
  ["tags", { team: "build", stage: "live" }, true],
  ["tags", { team: "other" }, false],
  ["tags", {}, false],
  ["capture", "bodies", false],
  ["enabled", false, true],
  ["group", { id: "grp_2", name: "wide" }, false],
])("%s of %j: %j", (name, value, tighter) => {
  expect(isTighter(base, { ...base, [name]: value } as BoundedKey)).toBe(tighter);
});

/** `key` with one bound of another key. */
function withBound(key: BoundedKey, other: BoundedKey, name: (typeof keyBounds)[number]): BoundedKey {
  const enforce = enforcedBy[name];
  return { ...key, [name]: other[name], ...(enforce === undefined ? {} : { [enforce]: other[enforce] }) };
}

function mayUse(
  key: BoundedKey,
  grant: "models" | "allowed_ips",
  allows: (patterns: readonly string[]) => boolean,
): boolean {
  const { [grant]: patterns, [`enforce_${grant}` as const]: isEnforced } = key;
  return patterns === null || !isEnforced || allows(patterns);
}

test.each(["models", "allowed_ips"] as const)(
  "a grant of %s is widened by shadow mode, and not by its end",
  (grant) => {
    const enforce = `enforce_${grant}` as const;
    const shadow = { ...base, [enforce]: false };
    expect(widenedBounds(base, shadow)).toEqual([grant]);
    expect(widenedBounds(shadow, base)).toEqual([]);
    expect(widenedBounds(shadow, { ...shadow, [grant]: null })).toEqual([grant]);
    expect(widenedBounds({ ...base, [grant]: null }, shadow)).toEqual([]);
  },
);

function withoutUndefined<Value extends object>(value: Value): Partial<Value> {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as Partial<Value>;
}

/** Whether no field was widened. */
function isTighter(before: BoundedKey, after: BoundedKey): boolean {
  return widenedBounds(before, after).length === 0;
}

test("a fallback and an increase widen a budget, and another window may", () => {
  const budget = { usd: 5, period: "month" } as const;
  const increase = { usd: 2, until: "2026-12-01T00:00:00Z", reason: "launch" };
  const key = (more: object): BoundedKey => ({ ...base, budget: { ...budget, ...more } });
  const widens = (before: object, after: object) => widenedBounds(key(before), key(after));
  for (const more of [{ over: { fallback: "m" } }, { increase }, { rolling: true }, { time_zone: "Europe/Berlin" }]) {
    expect(widens({}, more)).toEqual(["budget"]);
    expect(widens(more, more)).toEqual([]);
  }
  expect(widens({ increase, over: { fallback: "m" } }, { over: "refuse" })).toEqual([]);
  expect(widens({ increase }, { increase: { ...increase, usd: 3 } })).toEqual(["budget"]);
});
