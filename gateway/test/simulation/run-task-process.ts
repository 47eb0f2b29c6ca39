import { openDatabase } from "#storage/index.ts";
import { until } from "../../../test/until.ts";
import { fastClock } from "./fast-clock.ts";
import { openTaskProcess, placeOrders, type TaskProcessSetup } from "./task-process.ts";

/**
 * `bun run-task-process.ts <setup as JSON>` places its orders, polls every task that is due, and prints a line when its
 * orders are placed. After a line on its standard input it stops, and prints what it still holds: nothing, once other
 * processes have ended all its tasks.
 */
const setup: TaskProcessSetup = JSON.parse(process.argv[2] ?? "");
const database = openDatabase({ path: `${setup.dataDir}/sluice.db` });
const gateway = await openTaskProcess(database, setup, fastClock(setup.from, setup.times));
console.log("started");
await placeOrders(gateway, setup.orders);
console.log("placed");
for await (const _ of console) break;
const { videos, admission } = gateway;
// Tasks that other processes ended are checked from time to time.
await until(() => videos.held + videos.busy === 0).catch(() => undefined);
await videos.stop();
console.log(JSON.stringify([videos.held, videos.busy, admission.outstanding, admission.repeatedEndings]));
process.exit(0);
