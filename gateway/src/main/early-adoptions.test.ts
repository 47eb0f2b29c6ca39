import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { ledgerEntry, newYear } from "../../test/conformance/store-fixture.ts";
import { EarlyAdoptions } from "./open-journal.ts";

const day = 86_400_000;

test("keeps one entry per key, person and day, up to a bound", () => {
  const early = new EarlyAdoptions();
  const busy = Array.from({ length: bounds.journalBacklogMax + 1 }, (_, n) =>
    ledgerEntry(`busy_${n}`, { keyId: "key_busy", at: newYear + n, costNanoUsd: 5 }),
  );
  early.add(busy);
  early.add([
    ledgerEntry("other", { keyId: "key_other", at: newYear, costNanoUsd: 7 }),
    ledgerEntry("later", { keyId: "key_busy", at: newYear + day, costNanoUsd: 7 }),
    ledgerEntry("anna", { keyId: "key_busy", personId: "usr_anna", at: newYear, costNanoUsd: 7 }),
    ledgerEntry("free", { keyId: "key_free", at: newYear, costNanoUsd: 0 }),
  ]);
  const kept = early
    .take()
    .map(({ keyId, personId = null, at }) => [keyId, personId, Math.floor((at - newYear) / day)]);
  expect(kept).toEqual([
    ["key_busy", null, 0],
    ["key_other", null, 0],
    ["key_busy", null, 1],
    ["key_busy", "usr_anna", 0],
  ]);
  expect(early.take()).toEqual([]);
});
