import { expect, test } from "bun:test";
import { settingsSchema } from "@sluice/contract";
import { changeOf, draftOf, faultsOf, settingNames, shortened } from "./settings-draft.ts";

const settings = settingsSchema.parse({
  log_bodies: "none",
  ledger: { durability: "disk", retention_days: 400 },
  explanations: { retention_days: 30 },
  captures: { retention_days: 7 },
  disconnect: { default: "cancel" },
  retry_sent: false,
  video: { copy_results: false },
  drain_timeout_ms: 120_000,
  unpriced: "block",
});
const draft = draftOf(settings);

test("only what was changed is sent, in the shape that the gateway takes", () => {
  expect(changeOf(draft, draft)).toEqual({});
  expect(changeOf(draft, { ...draft, captureDays: 3 })).toEqual({ captures: { retention_days: 3 } });
  const all = changeOf(draft, {
    durability: "strict",
    ledgerDays: 90,
    explanationDays: 10,
    captureDays: 1,
    disconnect: "drain",
    retrySent: true,
    copyResults: true,
    drainSeconds: 0.5,
    unpriced: "price_as",
    priceAs: " gpt-5 ",
  });
  expect(settingsSchema.parse(all)).toEqual({
    ledger: { durability: "strict", retention_days: 90 },
    explanations: { retention_days: 10 },
    captures: { retention_days: 1 },
    disconnect: { default: "drain" },
    retry_sent: true,
    video: { copy_results: true },
    drain_timeout_ms: 500,
    unpriced: { price_as: "gpt-5" },
  });
});

test("an empty field and one out of its bounds are told beside the field", () => {
  expect(faultsOf(draft)).toEqual({});
  expect(Object.keys(faultsOf({ ...draft, ledgerDays: null, drainSeconds: 0 }))).toEqual([
    "ledgerDays",
    "drainSeconds",
  ]);
  expect(faultsOf({ ...draft, captureDays: 366 })).toEqual({ captureDays: "Enter a number from 1 to 365." });
});

test("what will be removed by a shorter retention is named", () => {
  expect(shortened(draft, { ...draft, ledgerDays: 500 })).toEqual([]);
  expect(shortened(draft, { ...draft, ledgerDays: 5, captureDays: 1 })).toEqual(["request records", "captures"]);
});

test("every setting of the form is one that the config file knows, so that its lock is found", () => {
  for (const name of Object.values(settingNames)) {
    const [first = "", second] = name.split(".");
    const value: unknown = Reflect.get(settings, first);
    expect(second === undefined ? value : Reflect.get(value as object, second), name).toBeDefined();
  }
});
