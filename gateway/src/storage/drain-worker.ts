import { parentPort } from "node:worker_threads";
import { Drain, type DrainTarget } from "./drain.ts";
import type { DrainOrder, DrainReport } from "./drain-messages.ts";
import { openDatabase } from "./open-database.ts";
import { createLedgerStore } from "./ledger-store.ts";
