import { expect, test } from "bun:test";
import { createMemoryCounter } from "#coordination/index.ts";
import { asFailure } from "#core/index.ts";
import { Admission, type Permit } from "#limits/index.ts";
import { FakeClock } from "../fake-clock.ts";
import { governedPrincipal } from "./governed-principal.ts";
import { seededChance } from "./seeded-chance.ts";

test.each([1, 2, 3, 4, 5])(
  "seed %i: an hour of calls keeps every limit, frees every place, and charges exactly what was spent",
  async (seed) => {
    const clock = new FakeClock();
    const admission = new Admission({ counter: createMemoryCounter({ clock }), clock });
    const chance = seededChance(seed);
    const principal = governedPrincipal({
      workspace: { budget: { nanoUsd: 2_000_000, period: "total" } },
      group: { limits: { rpm: 40, tpm: 30_000 } },
      key: { limits: { concurrency: 6 }, budget: { nanoUsd: 600_000, period: "day" } },
    });
    const admittedAt: number[] = [];
    const refusals = new Set<string>();
    let running = 0;
    let spent = 0;
    let attempts = 0;

    const begin = async (): Promise<void> => {
      const tokens = Math.floor(chance.unit() * 3_000);
      const nanoUsd = Math.floor(chance.unit() * 1_000);
      const estimate = { tokens, money: () => ({ most: nanoUsd, least: nanoUsd }) };
      let permit: Permit;
      try {
        permit = await admission.admit(principal, estimate);
      } catch (thrown) {
        refusals.add(asFailure(thrown).details?.scope ?? "none");
        return;
      }
      running++;
      expect(running).toBeLessThanOrEqual(6);
      const sent = chance.unit() < 0.9;
      const cost = Math.floor(nanoUsd * chance.unit());
      if (sent) admittedAt.push(clock.monotonic());
      clock.after(chance.unit() * 20_000, () => {
        running--;
        if (!sent) {
          permit.release();
          return;
        }
        spent += cost;
        const scopes = { workspaceId: "ws_1", groupId: "grp_1", keyId: "key_1" };
        admission.settled({ attemptId: `att_${++attempts}`, at: clock.now(), ...scopes, costNanoUsd: cost });
        permit.settle(Math.floor(tokens * 2 * chance.unit()));
      });
    };

    for (let call = 0; call < 6_000; call++) {
      clock.advance(1_200 * chance.unit());
      await begin();
    }
    while (clock.pending > 0) clock.advance(1_000);

    for (let first = 0; first + 40 < admittedAt.length; first++) {
      expect((admittedAt[first + 40] ?? 0) - (admittedAt[first] ?? 0)).toBeGreaterThanOrEqual(60_000);
    }
    expect(refusals.has("concurrency of key acme/ci")).toBe(true);
    expect(refusals.has("tpm of group acme/default")).toBe(true);
    expect(spent).toBeLessThanOrEqual(600_000);
    expect([admission.outstanding, admission.repeatedEndings, running]).toEqual([0, 0, 0]);
    clock.advance(61_000);
    const limitUsages = await admission.limitUsages(principal.scopes);
    expect(limitUsages.map(({ name, used }) => [name, used])).toEqual([
      ["budget", spent / 1e9],
      ["rpm", 0],
      ["tpm", 0],
      ["budget", spent / 1e9],
      ["concurrency", 0],
    ]);
  },
);
