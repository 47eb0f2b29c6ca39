import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { ledgerEntry, newYear } from "../../test/conformance/store-ground.ts";
import { AdoptedEarly } from "./open-journal.ts";

const day = 86_400_000;

test("of any number of adopted entries every key, person and day is told, once, and nobody waits for more than are told", () => {
  const early = new AdoptedEarly();
  const busy = Array.from({ length: bounds.journalBacklogMax + 1 }, (_, n) =>
    ledgerEntry(`busy_${n}`, { keyId: "key_busy", at: newYear + n, costNanoUsd: 5 }),
  );
  early.take(busy);
  early.take([
    ledgerEntry("other", { keyId: "key_other", at: newYear, costNanoUsd: 7 }),
    ledgerEntry("later", { keyId: "key_busy", at: newYear + day, costNanoUsd: 7 }),
    ledgerEntry("anna", { keyId: "key_busy", personId: "usr_anna", at: newYear, costNanoUsd: 7 }),
    ledgerEntry("free", { keyId: "key_free", at: newYear, costNanoUsd: 0 }),
  ]);
  const told = early
    .give()
    .map(({ keyId, personId = null, at }) => [keyId, personId, Math.floor((at - newYear) / day)]);
  expect(told).toEqual([
    ["key_busy", null, 0],
    ["key_other", null, 0],
    ["key_busy", null, 1],
    ["key_busy", "usr_anna", 0],
  ]);
  expect(early.give()).toEqual([]);
});
