import { area } from "../area.tsx";
import { ledgerExport } from "../en/ledger-export.ts";

export const { t } = area("ledgerExport", ledgerExport);
