import { openDatabase } from "#storage/index.ts";
import { until } from "../../../test/until.ts";
import { fastClock } from "./fast-clock.ts";
import { openTaskProcess, placeOrders, type TaskProcessSetup } from "./task-process.ts";

/**
 * `bun run-task-process.ts <setup as JSON>`: places its orders, looks after every task that is due, and prints a line when
 * its orders are placed. A line on its standard input asks it to stop; it then prints what it still holds, which is nothing
 * when others have ended all that it held.
 */
const setup: TaskProcessSetup = JSON.parse(process.argv[2] ?? "");
const database = openDatabase({ path: `${setup.dataDir}/sluice.db` });
const gateway = await openTaskProcess(database, setup, fastClock(setup.from, setup.times));
console.log("started");
await placeOrders(gateway, setup.orders);
console.log("placed");
for await (const _ of console) break;
const { videos, admission } = gateway;
// What others ended is asked for now and then.
await until(() => videos.held + videos.busy === 0).catch(() => undefined);
await videos.stop();
console.log(JSON.stringify([videos.held, videos.busy, admission.outstanding, admission.repeatedEndings]));
process.exit(0);
