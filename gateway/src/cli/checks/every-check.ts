import { blobsCheck, dataDirCheck, journalCheck } from "./data-dir.ts";
import { databaseCheck } from "./database.ts";
import type { Check } from "./finding.ts";
import { ledgerExportCheck } from "./ledger-export.ts";
import { certificateCheck, configFileCheck, machineCheck } from "./machine.ts";
import { egressCheck, portCheck, redisCheck, telemetryCheck } from "./network.ts";
import { providersCheck } from "./providers.ts";

/** What the doctor looks at, in this order. */
export const everyCheck: readonly Check[] = [
  dataDirCheck,
  databaseCheck,
  redisCheck,
  blobsCheck,
  ledgerExportCheck,
  journalCheck,
  configFileCheck,
  certificateCheck,
  portCheck,
  egressCheck,
  machineCheck,
  telemetryCheck,
  providersCheck,
];
