import type { Assets } from "#assets/index.ts";
import type { BodyWork } from "#bodies/index.ts";
import type { CallerMemory, ConfigSnapshot, Failure, MemoryOwner, Principal, Secret } from "#core/index.ts";
import type { CallerConnections } from "#http-server/index.ts";
import type { AgentSettingsOf, AgentSignIn, Authenticator } from "#identity/index.ts";
import type {
  AgentTelemetry,
  AttemptSums,
  Clock,
  Explainer,
  Ids,
  Observer,
  Spool,
  Tracing,
  UsageSum,
} from "#ports/index.ts";
import type { Relay } from "#relay/index.ts";
import type { VideoTasks } from "#tasks/index.ts";
import type { BodyDeadlines } from "./body-deadlines.ts";
import type { Answer, CallRequest } from "./call-request.ts";
import type { OpenSession } from "./socket/socket-link.ts";

/** One limit as its holder sees it. `resets_at` is Unix seconds. */
interface LimitStatus {
  readonly scope: string;
  readonly kind: string;
  /** Of a budget; null for the others. */
  readonly period: string | null;
  readonly limit: number;
  /** null: what a budget has spent cannot be read now. */
  readonly used: number | null;
  readonly resets_at: number | null;
}

/** Since each began, in UTC; nano-USD. */
export interface PeriodSpend {
  readonly day: number;
  readonly week: number;
  readonly month: number;
}

export interface ApiDependencies {
  readonly authenticator: Pick<Authenticator, "authenticate">;
  readonly agentSignIn: Pick<AgentSignIn, "begin" | "poll" | "refresh" | "revoke">;
  /** What the agents of a group are to be set to; null: nothing is said. */
  readonly agentSettings: AgentSettingsOf;
  /** Takes the telemetry of agents; null: it is dropped. */
  readonly agentTelemetry: AgentTelemetry | null;
  /** Where the console is opened, without a slash at its end; null: at the address that callers use. */
  readonly consoleUrl: () => string | null;
  readonly relay: Relay;
  readonly videos: VideoTasks;
  readonly assets: Assets;
  /** Where callers reach this gateway, as configured; without a slash at its end. */
  readonly publicUrl: () => string | null;
  readonly configSnapshot: () => ConfigSnapshot;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly observer: Observer;
  readonly explainer: Pick<Explainer, "capture" | "expect">;
  /** Absent: no traces are kept. */
  readonly tracing?: Pick<Tracing, "arrived">;
  /** What large bodies are worked on with. */
  readonly bodies: BodyWork;
  /** What is held for callers. */
  readonly memory: CallerMemory;
  /** For the connections of callers, where our own server is at the port. */
  readonly connections: CallerConnections;
  /** Where forms wait to be sent. */
  readonly spool: Spool;
  /** null when all is well, else one line that says what is not. */
  readonly unready: () => string | null;
  /** What is amiss though calls can be taken, in one line; null: nothing. */
  readonly remark: () => string | null;
  readonly draining: () => boolean;
  /** Calls are still taken, each as the last one of its connection: whoever keeps connections turns elsewhere by itself. */
  readonly leaving: () => boolean;
  /** TLS was not agreed upon with a caller. `problem`: a word. Left out: nobody counts it. */
  readonly handshakeProblem?: (problem: string) => void;
  /** What metrics are asked for with; null: they need no key. */
  readonly metricsKey: Secret | null;
  readonly metricsText: () => Promise<string>;
  readonly metricsType: string;
  /** Counts a call that is no call of a model against its caller's limits; the returned function says that it is over. */
  readonly countCall: (principal: Principal) => Promise<() => void>;
  readonly keyUsage: (principal: Principal, from: number, to: number) => Promise<readonly UsageSum[]>;
  readonly periodSpend: (principal: Principal) => Promise<PeriodSpend>;
  readonly limitUsage: (principal: Principal) => Promise<readonly LimitStatus[]> | readonly LimitStatus[];
  /** What is no call: console, admin API, reference. */
  readonly admin: (
    request: Request,
    info: { readonly ip: string; readonly requestId: string; readonly patient: () => void },
  ) => Response | Promise<Response>;
}

/** How a request becomes a WebSocket, where its connection can. */
export interface SocketOpening {
  /** WebSockets that are open on this port. */
  readonly open: number;
  /** And those of one key or workspace, by its id. */
  openOf(id: string): number;
  /** False: it is no handshake. `headers` are those of its answer; the session is made once the socket is open. */
  upgrade(socket: { headers: Readonly<Record<string, string>>; owner: MemoryOwner; open: OpenSession }): boolean;
  /** A call of the same path by the same caller, as one of its own connection would be answered. */
  call(request: Request): Promise<Response>;
}

export interface Seen {
  key: string | null;
  model: string | null;
  /** Why the request was refused. */
  failure: Pick<Failure, "code" | "message"> | null;
  readonly attempts: AttemptSums;
  /** Whose key it is. */
  principal: Principal | null;
}

/** One request on its way through the API. `path` is as the router read it; nothing else may parse the URL again. */
export interface Exchange {
  readonly request: CallRequest;
  readonly requestId: string;
  readonly path: string;
  readonly query: string;
  readonly startedMs: number;
  readonly address: () => string;
  readonly bodies: BodyDeadlines;
  /** What becomes known of the call on its way, for the access log. */
  readonly seen: Seen;
  /** Says that the answer goes on after it was handed over; the returned function says that it is over. */
  readonly streams: () => () => void;
  /** Absent: this request cannot become a WebSocket. */
  readonly openSocket?: SocketOpening | undefined;
  /** Lifts the server's idle time-out for a call that may be silent for long. */
  readonly patient: () => void;
}

export type Endpoint = (dependencies: ApiDependencies, exchange: Exchange) => Answer | Promise<Answer>;
