import type { Environment, Variables } from "#config/index.ts";
import type { ExplainWriter, JournalDirectory, openReports, startDrain } from "#storage/index.ts";
import type { WorkerLink } from "#workers/index.ts";
import type { Certificate } from "./certificate.ts";
import type { Control } from "./control.ts";
import type { Processes } from "./processes.ts";
import type { openSignIn } from "./sign-in.ts";

export interface Leave {
  /** How long readiness fails while calls are still taken, so that load balancers turn away first. */
  readonly graceMs: number;
  /** Aborted: nobody is waited for any more. */
  readonly hurried: AbortSignal;
}

export interface GatewayOptions {
  readonly environment: Environment;
  /** Closed with the gateway, like `processes`; where it cannot be opened, by whoever opened them. */
  readonly control: Control;
  /** Held by this process, and so the whole data directory. */
  readonly directory: JournalDirectory;
  readonly version: string;
  /** As in ServeOptions; left out: `unknown`. */
  readonly revision?: string;
  /** Variables that the config file may refer to. */
  readonly variables?: Variables;
  /** The config file was refused at the start; what was applied before is in force. */
  readonly configRefused?: boolean;
  readonly randomToken: () => string;
  /** Somebody has made the first administrator with the link. */
  readonly onSetUp?: () => void;
  /** The journal can no longer be trusted: the process must end. */
  readonly onFatal: (error: Error) => void;
  /** It is one of several workers. */
  readonly link?: WorkerLink | null;
  /** Left out: it takes its place among the processes of the installation by itself. */
  readonly processes?: Processes;
  /** The ports speak TLS; left out: plain HTTP. */
  readonly certificate?: Certificate | null;
  /** Writes why requests went as they did; a thread by default. */
  readonly explainWriter?: ExplainWriter;
  /** Moves the ledger's entries from the journal into the database; in a thread by default. */
  readonly drain?: typeof startDrain;
  /** Answers what the console and the limits ask of the ledger; on SQLite in threads by default. */
  readonly openReports?: typeof openReports;
  /** Signs people in; with the installation's own accounts and issuers by default. */
  readonly openSignIn?: typeof openSignIn | undefined;
  /** How long a connection without a call may be silent; a minute by default. */
  readonly idleSeconds?: number;
}
