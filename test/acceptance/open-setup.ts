import type { ConfigFile } from "@sluice/contract";
import { type Gateway, startGateway } from "./start-gateway.ts";
import { type SimulatorProcess, startSimulator } from "./start-simulator.ts";
import { testConfig } from "./test-config.ts";

/** A gateway with a simulator as its upstream, each in its own process. */
export interface TestSetup {
  readonly gateway: Gateway;
  readonly simulator: SimulatorProcess;
  close(): Promise<void>;
}

export async function openSetup(configure: (simulatorUrl: string) => ConfigFile = testConfig): Promise<TestSetup> {
  const simulator = await startSimulator();
  try {
    const gateway = await startGateway({ config: configure(simulator.url) });
    return {
      gateway,
      simulator,
      async close() {
        await gateway.remove();
        await simulator.stop();
      },
    };
  } catch (thrown) {
    await simulator.stop();
    throw thrown;
  }
}
