import { blobsCheck } from "./blobs.ts";
import { certificateCheck } from "./certificate.ts";
import { configFileCheck } from "./config-file.ts";
import { dataDirCheck } from "./data-dir.ts";
import { databaseCheck } from "./database.ts";
import { egressCheck } from "./egress.ts";
import type { Check } from "./finding.ts";
import { journalCheck } from "./journal.ts";
import { ledgerExportCheck } from "./ledger-export.ts";
import { machineCheck } from "./machine.ts";
import { portCheck } from "./port.ts";
import { providersCheck } from "./providers.ts";
import { redisCheck } from "./redis.ts";
import { telemetryCheck } from "./telemetry.ts";

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
