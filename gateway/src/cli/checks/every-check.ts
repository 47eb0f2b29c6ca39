import { databaseCheck } from "./database.ts";
import type { Check } from "./finding.ts";
import { certificateCheck, configFileCheck, machineCheck } from "./machine.ts";
import { egressCheck, portCheck, redisCheck, telemetryCheck } from "./network.ts";
import { providersCheck } from "./providers.ts";
import { blobsCheck, dataDirCheck, journalCheck, ledgerExportCheck } from "./storage.ts";

/** All checks of the doctor, in order. */
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
