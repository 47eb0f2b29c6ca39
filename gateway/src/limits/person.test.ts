import { expect, test } from "bun:test";
import fc from "fast-check";
import { createMemoryCounter } from "#coordination/index.ts";
import { Failure, type Principal, personScopeId } from "#core/index.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { governedPrincipal, type ScopeLimits } from "../../test/simulation/governed-principal.ts";
import { Admission } from "./admit.ts";
import type { Permit } from "./permit.ts";

const ada = "usr_ada";

/** A call with one of Ada's keys. Each has its own copy of her limits, because keys are loaded separately. */
function adasKey(id: string, groupId: string, person: ScopeLimits): Principal {
  const made = governedPrincipal({ person });
  const key = { ...made.key, id, groupId, scope: { ...made.key.scope, id, label: `key acme/${id}` } };
  const group = { ...made.group, id: groupId, scope: { ...made.group.scope, id: groupId } };
  return { ...made, key, group, scopes: [made.workspace.scope, group.scope, ...made.scopes.slice(2, 3), key.scope] };
}

function fixture() {
  const clock = new FakeClock(Date.UTC(2026, 4, 10, 12));
  const admission = new Admission({ counter: createMemoryCounter({ clock }), clock });
  let attempts = 0;
  const admit = async (principal: Principal, nanoUsd: number): Promise<Permit | null> => {
    try {
      const money = () => ({ most: nanoUsd, least: nanoUsd });
      return await admission.admit(principal, { tokens: 1, money });
    } catch (thrown) {
      if (thrown instanceof Failure) return null;
      throw thrown;
    }
  };
  const finish = ({ key, person }: Principal, permit: Permit, costNanoUsd: number): void => {
    const of = {
      workspaceId: "ws_1",
      groupId: key.groupId,
      keyId: key.id,
      ...(person === null ? {} : { personId: person }),
    };
    admission.settled({ attemptId: `att_${++attempts}`, at: clock.now(), ...of, costNanoUsd });
    permit.settle(1);
  };
  return { clock, admission, admit, finish };
}

test("two keys of a person can spend the person's whole budget and no more", async () => {
  const call = fc.record({
    key: fc.integer({ min: 0, max: 1 }),
    hold: fc.integer({ min: 0, max: 60 }),
    /** The part that is held. */
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    /** How many calls begin before this one ends. */
    later: fc.integer({ min: 0, max: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(call, { maxLength: 60 }), fc.integer({ min: 0, max: 300 }), async (calls, budget) => {
      const { admission, admit, finish } = fixture();
      const limit = { budget: { nanoUsd: budget, period: "month" as const } };
      const keys = [adasKey("key_1", "grp_1", limit), adasKey("key_2", "grp_2", limit)];
      const running: { readonly until: number; readonly end: () => void }[] = [];
      let spent = 0;
      let held = 0;
      for (const [index, { key, hold, share, later }] of calls.entries()) {
        const principal = keys[key] as Principal;
        const permit = await admit(principal, hold);
        if (hold > 0) expect(permit !== null).toBe(spent + held + hold <= budget);
        if (permit !== null) {
          held += hold;
          const cost = Math.floor(hold * share);
          running.push({
            until: index + later,
            end: () => {
              held -= hold;
              spent += cost;
              finish(principal, permit, cost);
            },
          });
        }
        for (const done of running.filter(({ until }) => until === index)) done.end();
        expect(spent).toBeLessThanOrEqual(budget);
      }
      for (const left of running.filter(({ until }) => until >= calls.length)) left.end();
      expect(spent).toBeLessThanOrEqual(budget);
      expect(admission.outstanding).toBe(0);
    }),
  );
});

test("keys of a person share rates and places across groups", async () => {
  const { admit } = fixture();
  const keys = [
    adasKey("key_1", "grp_1", { limits: { rpm: 3, concurrency: 2 } }),
    adasKey("key_2", "grp_2", { limits: { rpm: 3, concurrency: 2 } }),
  ] as const;
  const first = await admit(keys[0], 0);
  expect(await admit(keys[1], 0)).not.toBeNull();
  expect(await admit(keys[0], 0)).toBeNull();
  first?.settle(1);
  expect(await admit(keys[1], 0)).not.toBeNull();
  first?.settle(1);
  expect(await admit(keys[0], 0)).toBeNull();
});

test("a refused call names the person's budget", async () => {
  const { admission } = fixture();
  const principal = governedPrincipal({ person: { budget: { nanoUsd: 0, period: "month" } } });
  expect(() => admission.check(principal)).toThrow("The budget of 0 USD per month on person acme/ada@example.com");
});

test("a person's budget excludes other workspaces and other people", async () => {
  const { admission, admit, finish, clock } = fixture();
  const limit = { budget: { nanoUsd: 100, period: "day" as const } };
  const hers = adasKey("key_1", "grp_1", limit);
  const permit = await admit(hers, 10);
  if (permit !== null) finish(hers, permit, 10);
  const elsewhere = { workspaceId: "ws_2", groupId: "grp_9", keyId: "key_9", personId: ada };
  admission.settled({ attemptId: "att_elsewhere", at: clock.now(), ...elsewhere, costNanoUsd: 50 });
  const others = { workspaceId: "ws_1", groupId: "grp_1", keyId: "key_1", personId: "usr_ben" };
  admission.settled({ attemptId: "att_others", at: clock.now(), ...others, costNanoUsd: 50 });
  const [usage] = await admission.limitUsages(hers.scopes.filter(({ kind }) => kind === "person"));
  expect(usage).toMatchObject({ scope: "person", scopeId: personScopeId("ws_1", ada), used: 10 / 1e9 });
});
