import { bucketPattern, type LedgerExportConfig, objectPrefixPattern, regionPattern } from "@sluice/contract";
import { t } from "../../language/areas/ledger-export.ts";
import type { Faults } from "../catalog/use-faults.ts";

/** The form of the ledger export. Input is kept while the export is off. */
export interface LedgerExportDraft {
  readonly exportOn: boolean;
  readonly exportBucket: string;
  readonly exportPrefix: string;
  readonly exportRegion: string;
  readonly exportEndpoint: string;
  readonly exportFormat: string;
}

export const ledgerExportNames: Readonly<Record<keyof LedgerExportDraft, string>> = {
  exportOn: "ledger.export",
  exportBucket: "ledger.export.bucket",
  exportPrefix: "ledger.export.prefix",
  exportRegion: "ledger.export.region",
  exportEndpoint: "ledger.export.endpoint",
  exportFormat: "ledger.export.format",
};

export function ledgerExportDraft(place: LedgerExportConfig | undefined): LedgerExportDraft {
  return {
    exportOn: place !== undefined,
    exportBucket: place?.bucket ?? "",
    exportPrefix: place?.prefix ?? "",
    exportRegion: place?.region ?? "",
    exportEndpoint: place?.endpoint ?? "",
    exportFormat: formatOf(place?.format),
  };
}

export function isOtherExport(before: LedgerExportDraft, after: LedgerExportDraft): boolean {
  if (!after.exportOn) return before.exportOn;
  return (Object.keys(ledgerExportNames) as (keyof LedgerExportDraft)[]).some((name) => before[name] !== after[name]);
}

/** The complete setting; null: no export. */
export function ledgerExportOf(draft: LedgerExportDraft): LedgerExportConfig | null {
  if (!draft.exportOn) return null;
  const [prefix, region, endpoint] = [
    draft.exportPrefix.trim(),
    draft.exportRegion.trim(),
    draft.exportEndpoint.trim(),
  ];
  return {
    bucket: draft.exportBucket.trim(),
    ...(prefix === "" ? {} : { prefix }),
    ...(region === "" ? {} : { region }),
    ...(endpoint === "" ? {} : { endpoint }),
    ...formats[draft.exportFormat as ExportFormat],
  };
}

export const exportFormats = ["jsonl", "focus", "both"] as const;
type ExportFormat = (typeof exportFormats)[number];

const formats: Readonly<Record<ExportFormat, Pick<LedgerExportConfig, "format">>> = {
  jsonl: {},
  focus: { format: "focus" },
  both: { format: ["jsonl", "focus"] },
};

function formatOf(format: LedgerExportConfig["format"] = "jsonl"): ExportFormat {
  const [first = "jsonl", ...others] = new Set([format].flat());
  return others.length > 0 ? "both" : first;
}

/** Validation errors by field. */
export function ledgerExportFaults(draft: LedgerExportDraft): Faults {
  const place = ledgerExportOf(draft);
  if (place === null) return {};
  const { bucket, prefix = "", region, endpoint } = place;
  return {
    ...(bucket === "" ? { exportBucket: t("ledgerExport.bucketMissing") } : {}),
    ...(bucket === "" || bucketPattern.test(bucket) ? {} : { exportBucket: t("ledgerExport.bucketWrong") }),
    ...(objectPrefixPattern.test(prefix) ? {} : { exportPrefix: t("ledgerExport.prefixWrong") }),
    ...(region === undefined || regionPattern.test(region) ? {} : { exportRegion: t("ledgerExport.regionWrong") }),
    ...(endpoint === undefined || isWebAddress(endpoint) ? {} : { exportEndpoint: t("ledgerExport.endpointWrong") }),
  };
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
