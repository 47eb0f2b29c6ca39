import { expect, test } from "bun:test";
import { settingsChangeSchema, settingsSchema } from "@sluice/contract";
import {
  changeOf,
  draftOf,
  faultsOf,
  isChanged,
  type SettingsDraft,
  settingName,
  shortened,
} from "./settings-draft.ts";

const settings = settingsSchema.parse({
  log_bodies: "none",
  ledger: { durability: "disk", retention_days: 400 },
  explanations: { retention_days: 30 },
  captures: { retention_days: 7 },
  audit: { retention_days: 3_650 },
  disconnect: { default: "cancel" },
  retry_sent: false,
  video: { copy_results: false },
  files: { workspace_gigabytes: 50 },
  drain_timeout_ms: 120_000,
  keys: { stale_max: 3_600 },
  unpriced: "block",
  console: { name: "", accent: "", logo: "", announcement: "" },
});
const draft = draftOf(settings);

test("only changed fields are sent, in the gateway's format", () => {
  expect(changeOf(draft, draft)).toEqual({});
  expect(changeOf(draft, { ...draft, "captures.retention_days": 3 })).toEqual({ captures: { retention_days: 3 } });
  const all = changeOf(draft, {
    ...draft,
    "ledger.durability": "strict",
    "ledger.retention_days": 90,
    "explanations.retention_days": 10,
    "captures.retention_days": 1,
    "audit.retention_days": 90,
    "disconnect.default": "drain",
    retry_sent: true,
    "video.copy_results": true,
    drain_timeout_ms: 500,
    "keys.stale_max": 600,
    unpriced: "price_as",
    priceAs: " gpt-5 ",
    exportOn: true,
    exportBucket: " acme-usage ",
    exportPrefix: "sluice/",
    exportRegion: "",
    exportEndpoint: "http://minio:9000",
    exportFormat: "both",
  });
  expect(settingsSchema.parse(all)).toEqual({
    ledger: {
      durability: "strict",
      retention_days: 90,
      export: { bucket: "acme-usage", prefix: "sluice/", endpoint: "http://minio:9000", format: ["jsonl", "focus"] },
    },
    explanations: { retention_days: 10 },
    captures: { retention_days: 1 },
    audit: { retention_days: 90 },
    disconnect: { default: "drain" },
    retry_sent: true,
    video: { copy_results: true },
    drain_timeout_ms: 500,
    keys: { stale_max: 600 },
    unpriced: { price_as: "gpt-5" },
  });
});

test("empty and out-of-range fields are reported", () => {
  expect(faultsOf(draft)).toEqual({});
  expect(Object.keys(faultsOf({ ...draft, "ledger.retention_days": null, drain_timeout_ms: 0 }))).toEqual([
    "ledger.retention_days",
    "drain_timeout_ms",
  ]);
  expect(faultsOf({ ...draft, "captures.retention_days": 366 })).toEqual({
    "captures.retention_days": "Enter a number from 1 to 365.",
  });
  expect(Object.keys(faultsOf({ ...draft, "audit.retention_days": 89 }))).toEqual(["audit.retention_days"]);
  expect(Object.keys(faultsOf({ ...draft, "keys.stale_max": 9 }))).toEqual(["keys.stale_max"]);
});

test("the export's target is sent as a whole, null turns it off, and input while it is off is not a change", () => {
  const place = { bucket: "acme-usage", prefix: "sluice/", region: "eu-central-1", endpoint: "http://minio:9000" };
  const on = draftOf({ ...settings, ledger: { ...settings.ledger, export: place } });
  const moved = changeOf(on, { ...on, exportRegion: "" });
  expect(settingsChangeSchema.parse(moved)).toEqual({
    ledger: { export: { bucket: "acme-usage", prefix: "sluice/", endpoint: "http://minio:9000" } },
  });
  const focus = changeOf(on, { ...on, exportFormat: "focus" });
  expect(settingsChangeSchema.parse(focus)).toEqual({ ledger: { export: { ...place, format: "focus" } } });
  const both = draftOf({ ...settings, ledger: { export: { ...place, format: ["focus", "jsonl"] } } });
  expect(both.exportFormat).toBe("both");
  const off = changeOf(on, { ...on, exportOn: false });
  expect(settingsChangeSchema.parse(off)).toEqual({ ledger: { export: null } });
  expect(isChanged(on, { ...on, exportOn: false })).toBe(true);
  expect(isChanged(draft, { ...draft, exportBucket: "half-typed" })).toBe(false);
  const wrong = { exportBucket: "a b", exportPrefix: "ä", exportRegion: "EU", exportEndpoint: "minio:9000" };
  expect(Object.keys(faultsOf({ ...on, ...wrong }))).toEqual(Object.keys(wrong));
  expect(faultsOf({ ...on, exportBucket: "" })).toEqual({ exportBucket: "Enter the bucket's name." });
  expect(faultsOf({ ...on, ...wrong, exportOn: false })).toEqual({});
});

test("data that a shorter retention deletes is named", () => {
  expect(shortened(draft, { ...draft, "ledger.retention_days": 500 })).toEqual([]);
  expect(shortened(draft, { ...draft, "ledger.retention_days": 5, "captures.retention_days": 1 })).toEqual([
    "request records",
    "captures",
  ]);
});

test("every setting of the form is one that the config file knows, so that its lock is found", () => {
  const place = { bucket: "acme-usage", prefix: "sluice/", region: "eu-central-1", endpoint: "http://minio:9000" };
  const all = settingsSchema.parse({
    ...settings,
    ledger: { ...settings.ledger, export: { ...place, format: "focus" } },
  });
  for (const field of Object.keys(draft) as (keyof SettingsDraft)[]) {
    const name = settingName(field);
    const value = name.split(".").reduce<unknown>((outer, part) => Reflect.get(outer as object, part), all);
    expect(value, name).toBeDefined();
  }
});
