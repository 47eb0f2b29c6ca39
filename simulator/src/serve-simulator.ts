import { type HttpListener, openHttpListener } from "./http-listener.ts";
import { createSimulator, type Simulator, type SimulatorOptions } from "./simulator.ts";
import { openTruthFile } from "./truth-file.ts";

export interface ServeOptions extends Omit<SimulatorOptions, "onRecord" | "onFlush"> {
  /** 0 or undefined: any free port. */
  readonly port?: number;
  /** Default 127.0.0.1, because other machines have no use for a simulated vendor. */
  readonly hostname?: string;
  /** A JSON-lines file that gets one line for each attempt when its answer is complete. */
  readonly truthFile?: string;
}

export interface RunningSimulator {
  readonly port: number;
  readonly hostname: string;
  /** The base URL of its vendors, ending in /v1. */
  readonly url: string;
  readonly simulator: Simulator;
  stop(): void;
}

/** Starts the simulator on a TCP port. */
export function serveSimulator(options: ServeOptions = {}): RunningSimulator {
  const { port = 0, hostname = "127.0.0.1", truthFile, ...rest } = options;
  const file = truthFile === undefined ? null : openTruthFile(truthFile);
  const simulator = createSimulator({
    ...rest,
    ...(file === null ? {} : { onRecord: file.append, onFlush: file.flush }),
  });
  const listener: HttpListener = openHttpListener(simulator, { port, hostname });
  return {
    port: listener.port,
    hostname,
    url: `http://${hostname}:${listener.port}/v1`,
    simulator,
    stop() {
      listener.stop();
      file?.close();
    },
  };
}
