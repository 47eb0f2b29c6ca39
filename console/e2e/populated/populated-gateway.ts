import { type RunningSimulator, serveSimulator } from "@sluice/simulator";
import { password, type SignedInUser, signInAs } from "../signed-in-user.ts";
import { type StartedGateway, startGateway } from "../started-gateway.ts";
import { createBatch } from "./batches.ts";
import { addBill } from "./bills.ts";
import { addCatalog } from "./catalog.ts";
import { createVideoTasks } from "./media.ts";
import { createRehearsal } from "./rehearsals.ts";
import { addTenants, type Tenants } from "./tenants.ts";
import { callsWith, sendTraffic } from "./traffic.ts";

const administrator = { email: "ada@example.com", password };

export interface PopulatedGateway {
  readonly gateway: StartedGateway;
  readonly simulator: RunningSimulator;
  readonly ada: SignedInUser;
  readonly tenants: Tenants;
  /** A request that the second deployment answered. */
  readonly requestId: string;
  /** A video task that succeeded. */
  readonly taskId: string;
  /** A batch that has ended. */
  readonly batchId: string;
  /** A rehearsal with refused requests. */
  readonly rehearsalId: string;
  stop(): Promise<void>;
}

/** A gateway with the data of two teams, created through its API. */
export async function startPopulatedGateway(): Promise<PopulatedGateway> {
  const simulator = serveSimulator();
  const gateway = await startGateway({ administrator, config: configFile(simulator.url) });
  const stop = async () => {
    await gateway.stop();
    simulator.stop();
  };
  try {
    const ada = await signInAs(gateway.url, administrator.email);
    await addCatalog(ada, simulator.url);
    const tenants = await addTenants(ada, gateway.url);
    const requestId = await sendTraffic(gateway.url, tenants, simulator);
    const taskId = await createVideoTasks(ada, callsWith(gateway.url, tenants), simulator);
    const batchId = await createBatch(ada, gateway.url, tenants);
    await addBill(ada);
    const rehearsalId = await createRehearsal(ada);
    return { gateway, simulator, ada, tenants, requestId, taskId, batchId, rehearsalId, stop };
  } catch (cause) {
    await stop();
    throw cause;
  }
}

/** Objects in the config file are read-only in the console. One key has no secret yet. */
function configFile(simulatorUrl: string): string {
  return `
providers:
  - id: house-models
    kind: openai-compatible
    base_url: ${simulatorUrl}
    allow_private_network: true
models:
  - name: house-small
    deployments: [{ provider: house-models }]
    price: { input: 0.1, output: 0.3 }
workspaces:
  - slug: platform
    name: Platform team
    groups: [{ name: default, models: ["house-*", "gpt-*"], limits: { rpm: 300 } }]
    keys: [{ name: nightly report }]
settings:
  ledger: { retention_days: 400 }
`;
}
