import type { ConfigView } from "@sluice/contract";
import type { AlertLog, AlertSender, AlertSettings, ReportRuns, ScheduledReports } from "#alerts/index.ts";
import type { Assets } from "#assets/index.ts";
import type { Batches } from "#batches/index.ts";
import type { ConfigSnapshot, Model, Principal } from "#core/index.ts";
import type { AgentStore, ControlStore, PeopleStore, RightsStore, ScimStore } from "#directory/index.ts";
import type { Files } from "#files/index.ts";
import type { AgentSignIn, Authenticator, ReadAgentSettings, Setup } from "#identity/index.ts";
import type { Admission } from "#limits/index.ts";
import type {
  Clock,
  ExplainStore,
  FocusStore,
  InstanceStatus,
  LedgerStore,
  Mailer,
  Observer,
  OpenTries,
  ReportStore,
  SignIn,
  StaticFile,
  StaticFiles,
  UpstreamObjectStore,
  Vault,
} from "#ports/index.ts";
import type { ProviderProbe } from "#provider-client/index.ts";
import type { Reconciliation } from "#reconciliation/index.ts";
import type { Rehearsals } from "#rehearsal/index.ts";
import type { Router } from "#routing/index.ts";
import type { VideoTasks } from "#tasks/index.ts";
import type { RequestTail } from "./tail/request-tail.ts";

export interface AdminOptions
  extends Pick<ConsoleDependencies, "clock" | "openTries" | "observer" | "version" | "publicUrl"> {
  /** Holds `console/…` (the console's build) and `docs/…` (the API reference's own files, see `docsFiles`). */
  readonly files: StaticFiles;
  /** The OpenAPI document. */
  readonly openApi: () => Promise<StaticFile>;
  readonly setup: Setup;
  /** True while only the built-in demo provider answers. */
  readonly demo: () => boolean;
  /** A nonce for the style tags of one answer. */
  readonly randomToken: () => string;
  /** null: the pages alone, without sign-in and the admin API. */
  readonly console: ConsoleDependencies | null;
}

export interface ConsoleDependencies {
  readonly controlStore: ControlStore;
  readonly people: PeopleStore;
  readonly rights: RightsStore;
  readonly scim: ScimStore;
  readonly agents: AgentStore;
  readonly reports: ReportStore;
  readonly ledgerStore: Pick<LedgerStore, "page">;
  readonly focus: FocusStore;
  /** Loaded at first use. */
  readonly reconciliation: () => Promise<Reconciliation>;
  readonly explain: ExplainStore;
  readonly alertSettings: AlertSettings;
  readonly alertLog: AlertLog;
  readonly scheduledReports: ScheduledReports;
  readonly reportRuns: ReportRuns;
  readonly configSnapshot: () => ConfigSnapshot;
  /** Resolves when this process has applied every write so far. */
  readonly changesSeen: () => Promise<void>;

  readonly signIn: SignIn;
  readonly authenticator: Pick<Authenticator, "principalOf">;
  readonly agentSignIn: AgentSignIn;
  readonly agentSettings: ReadAgentSettings;
  readonly admission: Pick<Admission, "limitUsages">;
  readonly router: Pick<Router, "states">;
  readonly videos: VideoTasks;
  readonly assets: Assets;
  readonly objectStore: Pick<UpstreamObjectStore, "newest">;
  readonly workspaceFiles: Pick<Files, "list" | "totals" | "quota" | "get" | "open" | "delete">;
  /** Loaded when they are first needed. */
  readonly rehearsals: () => Promise<Rehearsals>;
  readonly batches: Pick<Batches, "find" | "page" | "facts" | "cancel" | "resultPart">;
  readonly probe: ProviderProbe;
  readonly tail: RequestTail;
  readonly alertSender: Pick<AlertSender, "send">;
  /** The address of the console, for links in messages; null: unknown. */
  readonly consoleUrl: () => string | null;
  /** null: links are not mailed, their creator passes them on. */
  readonly mailer: Mailer | null;

  readonly vault: Vault;
  readonly clock: Clock;
  readonly observer: Observer;
  readonly openTries: OpenTries;
  readonly randomBytes: (size: number) => Uint8Array;

  /** Address of the console and the admin API; null: only names of this machine. */
  readonly publicUrl: string | null;
  /** Address for API callers; null or absent: the console's address. */
  readonly callsUrl?: () => string | null;
  readonly version: string;
  /** The id of this process, and the name of its machine. */
  readonly instanceId: string;
  readonly host: string;
  readonly databaseKind: "sqlite" | "postgres";
  readonly configFacts: ConfigFacts;
  readonly processFacts: { read(): Promise<ProcessNumbers> };
  /** Expiry of the gateway's own certificate, in Unix milliseconds; null: plain HTTP. */
  readonly certificateEndsAt: () => number | null;
  /** Why calls may fail, and other problems of the gateway, in English. Empty if there are none. */
  readonly gatewayProblems: () => readonly string[];
  /** Not used on SQLite, where there is only one process. */
  readonly listProcesses: () => Promise<readonly (InstanceStatus & { readonly leads: readonly string[] })[]>;
  /** The sender of mails; null: mail is not configured. */
  readonly mailFrom: string | null;
  readonly ledgerExport: LedgerExportFacts;

  readonly onRevocationFailed: (problems: readonly string[]) => void;
  /** The secret that signs a workspace's webhooks; null: alerts of the installation. */
  readonly webhookSecret: (workspaceId: string | null) => string;
  /** Endpoints of a model. */
  readonly endpointsOf: (model: Model) => readonly string[];
  readonly untranslatedEndpointsOf: (model: Model) => readonly string[];
  /** Calls the data plane for an authenticated caller. `target`: path and query, from `/v1` on. */
  readonly answerAs: (call: {
    readonly principal: Principal & { readonly actor: string };
    readonly request: Request;
    readonly target: string;
    readonly ip: string;
  }) => Promise<Response>;
}

/** The state of the config file. */
export interface ConfigFacts {
  /** null: no config file. */
  readonly path: string | null;
  /** The text without secrets; null: it cannot be read. */
  text(): Promise<string | null>;
  lastReload(): ConfigView["last_reload"];
  warnings(): Promise<ConfigView["warnings"]>;
}

/** The state of the running gateway: of the process, or of all workers together. */
export interface ProcessNumbers {
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly memoryBytes: number;
  readonly journalLag: number;
  readonly journalHealthy: boolean;
  readonly streamsOpen: number;
  readonly reservationsOpen: number;
}

/** The state of the ledger export, apart from its settings. */
export interface LedgerExportFacts {
  /** `own`: separate credentials. `blobs`: the bucket's credentials. null: none. */
  readonly keys: "own" | "blobs" | null;
  /** The end of the last hour that was exported to the configured place; null: none was. */
  copiedUntil(): Promise<number | null>;
}
