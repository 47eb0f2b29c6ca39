import type { Environment, Variables } from "#config/index.ts";
import type { ExplainWriter, JournalDirectory, openReports, startDrain } from "#storage/index.ts";
import type { WorkerLink } from "#workers/index.ts";
import type { Certificate } from "./certificate.ts";
import type { Control } from "./control.ts";
import type { Processes } from "./processes.ts";
import type { openSignIn } from "./sign-in.ts";

export interface Leave {
  /** How long readiness fails before calls are refused, so that load balancers stop sending first. */
  readonly graceMs: number;
  /** Aborted by a second request to stop; ends every wait. */
  readonly forced: AbortSignal;
}

export interface GatewayOptions {
  readonly environment: Environment;
  /** Closed with the gateway, like `processes`. If the gateway cannot be opened, its caller closes them. */
  readonly control: Control;
  /** Locked by this process. */
  readonly directory: JournalDirectory;
  readonly version: string;
  /** As in ServeOptions; `unknown` by default. */
  readonly revision?: string;
  /** Variables that the config file may refer to. */
  readonly variables?: Variables;
  /** The config file was refused at the start, and the previous configuration is used. */
  readonly configRefused?: boolean;
  readonly randomToken: () => string;
  /** The first administrator was created with the setup link. */
  readonly onSetUp?: () => void;
  /** The journal failed, so the process must end. */
  readonly onFatal: (error: Error) => void;
  /** Set in one of several workers. */
  readonly link?: WorkerLink | null;
  /** Opened with the gateway by default. */
  readonly processes?: Processes;
  /** Plain HTTP without one. */
  readonly certificate?: Certificate | null;
  /** Writes explanations of requests; a thread by default. */
  readonly explainWriter?: ExplainWriter;
  /** Moves ledger entries from the journal into the database; a thread by default. */
  readonly drain?: typeof startDrain;
  /** Reads the ledger for the console and the limits; in threads by default on SQLite. */
  readonly openReports?: typeof openReports;
  readonly openSignIn?: typeof openSignIn | undefined;
  /** Idle timeout of connections; a minute by default. */
  readonly idleSeconds?: number;
}
