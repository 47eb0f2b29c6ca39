import type { SettingsChange, SettingsConfig } from "@sluice/contract";
import { formatCount } from "../../client/format.ts";
import { t } from "../../language/areas/settings.ts";
import type { Faults } from "../catalog/use-faults.ts";
import {
  isOtherExport,
  type LedgerExportDraft,
  ledgerExportDraft,
  ledgerExportFaults,
  ledgerExportNames,
  ledgerExportOf,
} from "./ledger-export-draft.ts";

/** The settings as the form has them: flat, and the wait in seconds. */
export interface SettingsDraft extends LedgerExportDraft {
  readonly durability: "process" | "disk" | "strict" | "remote";
  readonly ledgerDays: number | null;
  readonly explanationDays: number | null;
  readonly captureDays: number | null;
  readonly auditDays: number | null;
  readonly disconnect: "cancel" | "drain";
  readonly retrySent: boolean;
  readonly copyResults: boolean;
  readonly drainSeconds: number | null;
  readonly staleKeySeconds: number | null;
  readonly unpriced: "block_in_budgets" | "block" | "allow" | "price_as";
  /** The model whose price counts with `price_as`. */
  readonly priceAs: string;
}

/** What the config file calls each of them. */
export const settingNames: Readonly<Record<keyof SettingsDraft, string>> = {
  durability: "ledger.durability",
  ledgerDays: "ledger.retention_days",
  explanationDays: "explanations.retention_days",
  captureDays: "captures.retention_days",
  auditDays: "audit.retention_days",
  disconnect: "disconnect.default",
  retrySent: "retry_sent",
  copyResults: "video.copy_results",
  drainSeconds: "drain_timeout_ms",
  staleKeySeconds: "keys.stale_max",
  unpriced: "unpriced",
  priceAs: "unpriced",
  ...ledgerExportNames,
};

export function draftOf(settings: SettingsConfig): SettingsDraft {
  const {
    ledger,
    explanations,
    captures,
    audit,
    disconnect,
    video,
    retry_sent: retrySent,
    drain_timeout_ms: drainMs,
    keys,
    unpriced = "block_in_budgets",
  } = settings;
  return {
    durability: ledger?.durability ?? "disk",
    ledgerDays: ledger?.retention_days ?? null,
    explanationDays: explanations?.retention_days ?? null,
    captureDays: captures?.retention_days ?? null,
    auditDays: audit?.retention_days ?? null,
    disconnect: disconnect?.default ?? "cancel",
    retrySent: retrySent ?? false,
    copyResults: video?.copy_results ?? false,
    drainSeconds: drainMs === undefined ? null : drainMs / 1_000,
    staleKeySeconds: keys?.stale_max ?? null,
    unpriced: typeof unpriced === "object" ? "price_as" : unpriced,
    priceAs: typeof unpriced === "object" ? unpriced.price_as : "",
    ...ledgerExportDraft(ledger?.export),
  };
}

/** Whether there is something to save. */
export function isChanged(before: SettingsDraft, after: SettingsDraft): boolean {
  const names = (Object.keys(settingNames) as (keyof SettingsDraft)[]).filter((name) => !(name in ledgerExportNames));
  return names.some((name) => before[name] !== after[name]) || isOtherExport(before, after);
}

/** What was changed and nothing else: the rest may have an owner of its own, or have been changed by somebody else meanwhile. */
export function changeOf(before: SettingsDraft, after: SettingsDraft): SettingsChange {
  const changed = (name: keyof SettingsDraft) => before[name] !== after[name];
  const days = (name: RetentionName) => {
    const value = after[name];
    return changed(name) && value !== null ? { retention_days: value } : {};
  };
  const ledger = {
    ...(changed("durability") ? { durability: after.durability } : {}),
    ...days("ledgerDays"),
    ...(isOtherExport(before, after) ? { export: ledgerExportOf(after) } : {}),
  };
  const explanations = days("explanationDays");
  const captures = days("captureDays");
  const audit = days("auditDays");
  return {
    ...(isEmpty(ledger) ? {} : { ledger }),
    ...(isEmpty(explanations) ? {} : { explanations }),
    ...(isEmpty(captures) ? {} : { captures }),
    ...(isEmpty(audit) ? {} : { audit }),
    ...(changed("disconnect") ? { disconnect: { default: after.disconnect } } : {}),
    ...(changed("retrySent") ? { retry_sent: after.retrySent } : {}),
    ...(changed("copyResults") ? { video: { copy_results: after.copyResults } } : {}),
    ...(changed("drainSeconds") && after.drainSeconds !== null
      ? { drain_timeout_ms: Math.round(after.drainSeconds * 1_000) }
      : {}),
    ...(changed("staleKeySeconds") && after.staleKeySeconds !== null
      ? { keys: { stale_max: after.staleKeySeconds } }
      : {}),
    ...(changed("unpriced") || (after.unpriced === "price_as" && changed("priceAs"))
      ? { unpriced: after.unpriced === "price_as" ? { price_as: after.priceAs.trim() } : after.unpriced }
      : {}),
  };
}

/** What is wrong with it as it stands, by field. */
export function faultsOf(draft: SettingsDraft): Faults {
  const wrong = bounds.filter(({ name, min, max }) => {
    const value = draft[name];
    return value === null || value < min || value > max;
  });
  const missing =
    draft.unpriced === "price_as" && draft.priceAs.trim() === "" ? { priceAs: t("settings.unpriced.nameModel") } : {};
  return {
    ...missing,
    ...ledgerExportFaults(draft),
    ...Object.fromEntries(
      wrong.map(({ name, min, max }) => [name, t("settings.general.bounds", { min, max: formatCount(max) })]),
    ),
  };
}

/** Retention that takes away what is there: said before it happens. */
export function shortened(before: SettingsDraft, after: SettingsDraft): readonly string[] {
  return retentionNames
    .filter((name) => (after[name] ?? 0) < (before[name] ?? 0))
    .map((name) => t(`settings.general.kept.${name}`));
}

const retentionNames = ["ledgerDays", "explanationDays", "captureDays", "auditDays"] as const;
export type RetentionName = (typeof retentionNames)[number];

export const daysMax = 36_500;
export const captureDaysMax = 365;
export const auditDaysMin = 90;
export const drainSecondsMax = 86_400;
export const staleKeySecondsMin = 10;
export const staleKeySecondsMax = 86_400;

const bounds = [
  { name: "ledgerDays", min: 1, max: daysMax },
  { name: "explanationDays", min: 1, max: daysMax },
  { name: "captureDays", min: 1, max: captureDaysMax },
  { name: "auditDays", min: auditDaysMin, max: daysMax },
  { name: "drainSeconds", min: 0.001, max: drainSecondsMax },
  { name: "staleKeySeconds", min: staleKeySecondsMin, max: staleKeySecondsMax },
] as const;

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0;
}
