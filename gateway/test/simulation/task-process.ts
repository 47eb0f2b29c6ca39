import { type Model, Secret } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import { createLedgerStore, type Database, openVault } from "#storage/index.ts";
import { createIds, systemChance } from "#system/index.ts";
import { createTaskStore } from "#tasks/index.ts";
import { createTransport } from "#upstream/index.ts";
import { orderBody } from "./task-orders.ts";
import {
  arkDeployment,
  arkProvider,
  createCall,
  openTaskSetup,
  seedance,
  type TaskSetup,
  type TaskSetupOptions,
} from "./task-setup.ts";

/** The setup of a process on a shared database. */
export interface TaskProcessSetup {
  readonly dataDir: string;
  /** The address of the vendor. */
  readonly baseUrl: string;
  /** Settings of the clock that all processes share. */
  readonly from: number;
  readonly times: number;
  /** Orders to place. */
  readonly orders: readonly number[];
}

/** One process with pollers on a database that other processes use too. */
export async function openTaskProcess(
  database: Database,
  { dataDir, baseUrl }: Pick<TaskProcessSetup, "dataDir" | "baseUrl">,
  clock: Clock,
): Promise<TaskSetup & { readonly simulation: TaskSetupOptions; readonly model: Model }> {
  const simulation: TaskSetupOptions = {
    clock,
    chance: systemChance,
    ids: createIds(clock),
    ark: createTransport({ clock }),
    ledgerStore: createLedgerStore(database),
    taskStore: createTaskStore({ database, vault: openVault({ masterKey: null, dataDir }) }),
  };
  const model = modelAt(baseUrl);
  const gateway = openTaskSetup(simulation, { models: [model], publicUrl: null });
  await gateway.videos.restoreHolds();
  gateway.videos.start();
  return { ...gateway, simulation, model };
}

/** Places orders, a few at a time. Resolves to the task ids by order, or to the reason of a rejection. */
export async function placeOrders(
  { videos, simulation, model }: Awaited<ReturnType<typeof openTaskProcess>>,
  orders: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const ids = new Map<number, string>();
  const remaining = [...orders];
  const caller = async (): Promise<void> => {
    for (let order = remaining.shift(); order !== undefined; order = remaining.shift()) {
      const call = createCall(simulation, orderBody(order), { idempotencyKey: `order-${order}`, models: [model] });
      ids.set(order, await videos.create({ ...call, tags: { order: String(order) } }).then(({ id }) => id, String));
    }
  };
  await Promise.all(Array.from({ length: callersMax }, caller));
  return ids;
}

const callersMax = 4;

/** Both accounts mark their tasks, so that a lost task can be identified. */
function modelAt(baseUrl: string): Model {
  const settings = { mark_tasks: true };
  const changes = { baseUrl, settings, allowPrivateNetwork: true };
  const deployments = ["first", "second"].map((id, index) =>
    arkDeployment(id, index + 1, {
      provider: arkProvider(id, { ...changes, secret: new Secret(`sk-upstream-of-${id}`) }),
      upstreamModel: "doubao-seedance-2-0-260128",
    }),
  );
  return { ...seedance, deployments };
}
