import type { Assets } from "#assets/index.ts";
import type { Batches } from "#batches/index.ts";
import type { BodyWork } from "#bodies/index.ts";
import type { CallerMemory, ConfigSnapshot, Failure, Principal, Secret } from "#core/index.ts";
import type { Files } from "#files/index.ts";
import type { CallerConnections } from "#http-server/index.ts";
import type { AgentSignIn, Authenticator, ReadAgentSettings, UploadTokens } from "#identity/index.ts";
import type {
  AgentTelemetry,
  AttemptSums,
  Clock,
  Explainer,
  Ids,
  Journal,
  KeyUsageQuery,
  Observer,
  Spool,
  Tracing,
  UsageSum,
} from "#ports/index.ts";
import type { Relay } from "#relay/index.ts";
import type { VideoTasks } from "#tasks/index.ts";
import type { Answer, CallRequest } from "./call-request.ts";
import type { Sockets } from "./socket/sockets.ts";

/** One limit as its key sees it. `resets_at` is Unix seconds. */
interface LimitStatus {
  readonly scope: string;
  readonly kind: string;
  /** null: the limit is not a budget. */
  readonly period: string | null;
  readonly limit: number;
  /** null: the spend of a budget cannot be read now. */
  readonly used: number | null;
  readonly resets_at: number | null;
}

/** Spend since the start of each period, in UTC; nano-USD. */
export interface PeriodSpend {
  readonly day: number;
  readonly week: number;
  readonly month: number;
}

export interface ApiDependencies {
  readonly authenticator: Pick<Authenticator, "authenticate">;
  readonly uploadTokens: Pick<UploadTokens, "issue" | "authenticate">;
  readonly agentSignIn: Pick<AgentSignIn, "begin" | "poll" | "refresh" | "revoke">;
  /** The agent settings of a group; null: it has none. */
  readonly agentSettings: ReadAgentSettings;
  /** Receives the telemetry of agents; null: it is dropped. */
  readonly agentTelemetry: AgentTelemetry | null;
  /** The console's address, without a trailing slash; null: the same as in the caller's request. */
  readonly consoleUrl: () => string | null;
  readonly relay: Relay;
  readonly videos: VideoTasks;
  readonly assets: Assets;
  readonly batches: Batches;
  readonly files: Files;
  /** The configured address for callers, without a trailing slash. */
  readonly publicUrl: () => string | null;
  readonly configSnapshot: () => ConfigSnapshot;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly observer: Observer;
  readonly explainer: Pick<Explainer, "capture" | "willCapture">;
  /** Absent: traces are off. */
  readonly tracing?: Pick<Tracing, "arrived">;
  /** Parses and changes bodies, large ones in threads. */
  readonly bodies: BodyWork;
  /** Accounts for memory that callers use. */
  readonly memory: CallerMemory;
  readonly connections: CallerConnections;
  /** Stores forms until they are sent. */
  readonly spool: Spool;
  /** Why the process is not ready, in one line; null: it is. */
  readonly unready: () => string | null;
  /** A problem that does not affect readiness, in one line; null: none. */
  readonly remark: () => string | null;
  readonly draining: () => boolean;
  /** Written before a caller gets its answer. */
  readonly journal: Pick<Journal, "flush">;
  /** Whether every answer closes its connection, so that clients move to another process. */
  readonly leaving: () => boolean;
  /** Counts failed TLS handshakes. `problem`: a word. */
  readonly handshakeProblem?: (problem: string) => void;
  /** The key for metrics; null: they need none. */
  readonly metricsKey: Secret | null;
  readonly metricsText: () => Promise<string>;
  readonly metricsType: string;
  /** Counts a call without a model against its caller's limits. Call the returned function when the call is over. */
  readonly countCall: (principal: Principal) => Promise<() => void>;
  readonly keyUsage: (principal: Principal, query: KeyUsageQuery) => Promise<readonly UsageSum[]>;
  readonly periodSpend: (principal: Principal) => Promise<PeriodSpend>;
  readonly limitUsage: (principal: Principal) => Promise<readonly LimitStatus[]> | readonly LimitStatus[];
  /** Answers requests outside the data plane: console, admin API, API reference. */
  readonly admin: (
    request: Request,
    info: { readonly ip: string; readonly requestId: string },
  ) => Response | Promise<Response>;
}

/** Facts of a request for the access log and its explanation, collected on its way. */
export interface Seen {
  key: string | null;
  model: string | null;
  /** Why the request was refused. */
  failure: Pick<Failure, "code" | "message"> | null;
  readonly attempts: AttemptSums;
  principal: Principal | null;
  /** Captures the answer. Returns the one to send. Absent: it is not captured. */
  capture?: (answer: Answer) => Promise<Answer>;
}

/** One request on its way through the API. `path` is the router's; no other code may parse the URL again. */
export interface Exchange {
  readonly dependencies: ApiDependencies;
  readonly request: CallRequest;
  readonly requestId: string;
  readonly path: string;
  readonly query: string;
  readonly startedMs: number;
  /** The caller's, behind trusted proxies. */
  readonly address: string;
  readonly seen: Seen;
  /** Called at the end of an answer that is a stream or a WebSocket. */
  readonly streamEnd: () => void;
  /** Absent: this request cannot become a WebSocket. `call` answers a call of the same path by the same caller. */
  readonly socket?: { readonly sockets: Sockets; readonly call: (request: Request) => Promise<Response> };
}

export type Endpoint = (exchange: Exchange) => Answer | Promise<Answer>;
