import {
  nestedSettings,
  type SettingPath,
  type Settings,
  type SettingsChange,
  type SettingsConfig,
  settingAt,
  settingsTable,
} from "@sluice/contract";
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

type Row = (typeof settingsTable)[number];
/** A setting that the form renders from the settings table. */
export type FormRow = Extract<Row, { readonly form: string }>;
type Draft = {
  readonly [One in FormRow as One["path"]]: Settings[One["path"]] extends number
    ? number | null
    : Settings[One["path"]];
};

export const formRows = settingsTable.filter((row): row is FormRow => row.form !== null);

/** The form's values by setting path. A number is null while its field is empty. */
export interface SettingsDraft extends Draft, LedgerExportDraft {
  readonly unpriced: "block_in_budgets" | "block" | "allow" | "price_as";
  /** The model with the price for `price_as`. */
  readonly priceAs: string;
}

/** The config file's name for a form field. */
export function settingName(name: keyof SettingsDraft): string {
  if (name === "priceAs") return "unpriced";
  return name in ledgerExportNames ? ledgerExportNames[name as keyof LedgerExportDraft] : name;
}

export function draftOf(settings: SettingsConfig): SettingsDraft {
  const { unpriced = "block_in_budgets" } = settings;
  const values = formRows.map((row) => {
    const empty = row.kind.type === "integer" ? null : row.default;
    return [row.path, settingAt(settings, row.path) ?? empty];
  });
  return {
    ...(Object.fromEntries(values) as Draft),
    unpriced: typeof unpriced === "object" ? "price_as" : unpriced,
    priceAs: typeof unpriced === "object" ? unpriced.price_as : "",
    ...ledgerExportDraft(settings.ledger?.export),
  };
}

/** Whether there is something to save. */
export function isChanged(before: SettingsDraft, after: SettingsDraft): boolean {
  const names = ["unpriced", "priceAs", ...formRows.map(({ path }) => path)] as const;
  return names.some((name) => before[name] !== after[name]) || isOtherExport(before, after);
}

/** Only the changed fields: others may be managed elsewhere or changed by other users. */
export function changeOf(before: SettingsDraft, after: SettingsDraft): SettingsChange {
  const changed: [SettingPath, unknown][] = formRows
    .filter(({ path }) => after[path] !== before[path] && after[path] !== null)
    .map(({ path }) => [path, after[path]]);
  if (isOtherExport(before, after)) changed.push(["ledger.export", ledgerExportOf(after)]);
  if (after.unpriced === "price_as" && (before.unpriced !== "price_as" || before.priceAs !== after.priceAs)) {
    changed.push(["unpriced", { price_as: after.priceAs.trim() }]);
  } else if (after.unpriced !== before.unpriced) changed.push(["unpriced", after.unpriced]);
  return nestedSettings(changed);
}

/** The factor between the form's unit and the setting's: milliseconds are shown as seconds. */
export function shownAs({ kind }: FormRow): number {
  return kind.type === "integer" && kind.unit === "milliseconds" ? 1_000 : 1;
}

/** Validation errors by field. */
export function faultsOf(draft: SettingsDraft): Faults {
  const faults: Record<string, string> = {};
  if (draft.unpriced === "price_as" && draft.priceAs.trim() === "")
    faults["priceAs"] = t("settings.unpriced.nameModel");
  for (const row of formRows) {
    const { path, kind } = row;
    const value = draft[path];
    if (kind.type !== "integer" || (typeof value === "number" && value >= kind.min && value <= kind.max)) continue;
    const [min, max] = [kind.min / shownAs(row), kind.max / shownAs(row)];
    faults[path] = t("settings.general.bounds", { min, max: formatCount(max) });
  }
  return { ...faults, ...ledgerExportFaults(draft) };
}

/** Shorter retention deletes data, so it needs confirmation. */
export function shortened(before: SettingsDraft, after: SettingsDraft): readonly string[] {
  return formRows.flatMap(({ path, form }) => {
    if (form !== "retention" || path === "ledger.durability") return [];
    return (after[path] ?? 0) < (before[path] ?? 0) ? [t(`settings.fields.${path}.kept`)] : [];
  });
}
