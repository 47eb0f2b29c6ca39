import type { GuardrailSide } from "@sluice/contract/words";
import type { BodyMarks, BodyWork } from "#bodies/index.ts";
import {
  type CallerMemory,
  type CallSession,
  type CallSignal,
  type ConfigSnapshot,
  type Failure,
  type Guardrail,
  type HeaderReader,
  type LiveBody,
  type Model,
  type NanoUsd,
  type OpenEntry,
  openEntry,
  type PolicyCall,
  type PriceVersion,
  type Principal,
  type Provider,
  type ShadowDenial,
  type StoredFile,
} from "#core/index.ts";
import type { Files } from "#files/index.ts";
import type { CallGuard, CheckRecord, JudgedText, RemoteVerdict } from "#guardrails/index.ts";
import type { Recorder } from "#ledger/index.ts";
import type { Admission } from "#limits/index.ts";
import type {
  AttemptSums,
  Clock,
  Explainer,
  FormBody,
  Ids,
  Journal,
  Observer,
  Tracing,
  Transport,
} from "#ports/index.ts";
import type { EndpointProtocol, RequestFacts } from "#protocols/index.ts";
import type { ProviderClient } from "#provider-client/index.ts";
import type { Router } from "#routing/index.ts";
import type { UsageForecast } from "./attempt/estimate.ts";
import type { KeptState, UpstreamObjects, UpstreamObjectsOptions } from "./upstream-objects.ts";

/** One model call as the API hands it over: authenticated, read, and allowed to use `models`. */
export interface Call {
  readonly requestId: string;
  readonly principal: Principal;
  readonly protocol: EndpointProtocol;
  readonly facts: RequestFacts;
  /** Released as soon as an answer has begun: a stream may last long. */
  body: Uint8Array | FormBody | null;
  /** null: not determined yet. */
  readonly marks: BodyMarks | null;
  readonly headers: HeaderReader;
  /** Shared by calls with equal headers, apart from the content length. Absent: unknown. */
  readonly forwarded?: ForwardedHeaders | undefined;
  /** The part of the query that is forwarded to an upstream of the same dialect, without `?`; mostly empty. */
  readonly query: string;
  /** The model asked for, then its fallbacks that the caller may use; or the model that a used-up budget names. */
  models: readonly Model[];
  /** Set if `models` are of a used-up budget: why, for the caller and the ledger. */
  overBudget?: string;
  /** Whether the caller may use a model of this name. */
  readonly mayCall: (model: string) => boolean;
  /** The grants in shadow mode that would have refused a call of this model; absent or null: there are none. */
  readonly shadowDenials?: ((model: string) => readonly ShadowDenial[]) | null;
  /** Ends when the caller goes away before an answer has begun. */
  readonly signal: CallSignal;
  /** Monotonic milliseconds at which the call arrived. */
  readonly startedMs: number;
  /** Milliseconds of that spent waiting for the caller's own body. */
  readonly bodyWaitMs: number;
  readonly userAgent: string;
  readonly tags: Readonly<Record<string, string>>;
  /** The session that the caller names; the relay may infer one before admission. null: none. */
  session: CallSession | null;
  /** Absent: the sums are not wanted. */
  readonly attempts?: AttemptSums;
  /** Set for a row of a batch. Its batch holds its money and repeats it when a limit refuses it. */
  readonly batch?: { readonly id: string; readonly customId: string };
  /** Called once at the end of an answer that is a stream. */
  readonly streamEnd: () => void;
  /** Set before admission, absent where the call names nothing. */
  kept?: KeptState;
  /** Set once the request is checked; absent: no guardrail applies. */
  guard?: CallGuard;
  /** Files of the workspace that the call names, by those names. Set before admission. */
  files?: ReadonlyMap<string, StoredFile>;
  /** Names of copies that were put in place of files, which need no check. */
  readonly copyNames?: ReadonlySet<string>;
  /** Set for a call of the provider's own API: its method and kind of path. */
  readonly operation?: string;
  /** Set for a call of the provider's own API: its minimum charge. */
  readonly priceFloor?: PriceVersion | null;
}

/** The headers of a call that one account gets; `provider` null: not determined yet. */
interface ForwardedHeaders {
  provider: Provider | null;
  headers: Readonly<Record<string, string>>;
}

/** An entry of this call without its deployment. The recorder adds the id and the times. */
export function openEntryOf(call: Call): OpenEntry {
  const { principal, protocol, facts, session, batch } = call;
  const entry = openEntry();
  entry.requestId = call.requestId;
  entry.workspaceId = principal.workspace.id;
  entry.groupId = principal.group.id;
  entry.keyId = principal.key.id;
  entry.personId = principal.person ?? undefined;
  entry.actorId = principal.actor;
  entry.model = facts.model;
  entry.requestedModel = facts.model;
  entry.endpoint = call.operation === undefined ? protocol.endpoint : "pass-through";
  entry.operation = call.operation;
  entry.callerDialect = protocol.wireDialect;
  entry.upstreamDialect = protocol.wireDialect;
  entry.stream = facts.stream;
  entry.inputEstimate = facts.inputEstimate;
  entry.userAgent = call.userAgent;
  entry.tags = call.tags;
  entry.session = session?.id;
  entry.sessionSource = session?.source;
  entry.batchId = batch?.id;
  entry.customId = batch?.customId;
  return entry;
}

/** An answer that has begun: the bytes, or a stream of them that settles itself however it ends. */
export interface Delivery {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array | LiveBody;
}

/** The call ended without an answer. `headers`: the limits that it met, and the number of attempts. */
export interface Refusal {
  readonly failure: Failure;
  readonly headers: Record<string, string>;
}

export type CallResult = Delivery | Refusal;

/** Background responses, which continue as tasks when their calls are over. */
export interface BackgroundResponses {
  /** Sets money aside until the task of an attempt that is `pending` is settled. Before the permit of its call ends. */
  hold(
    principal: Principal,
    attemptId: string,
    nanoUsd: NanoUsd,
    call: PolicyCall & { readonly provider: string },
  ): Promise<void>;
  /** Polls a response that is not settled yet, because it is about to be ended or deleted. Never rejects. */
  refresh(workspaceId: string, upstreamId: string, signal: CallSignal): Promise<void>;
}

/** One of the two is called, once. `failed`: by an internal error. */
export interface CallListener {
  answered(result: CallResult): void;
  failed(thrown: unknown): void;
}

/** Services for guardrails. */
export interface GuardrailServices {
  /** A secret of the workspace, for placeholders. */
  readonly secretOf: (workspaceId: string) => string;
  /** Encrypts what was masked in a conversation, for its next calls. */
  readonly seal: (workspaceId: string, values: string) => string;
  /** null: the key has changed. */
  readonly unseal: (workspaceId: string, sealed: string) => string | null;
  /** Processor time of this thread, in milliseconds. */
  readonly cpuMs: () => number;
  /** Milliseconds of it that the next check may use. */
  readonly checkMsMax: () => number;
  /** Asks the webhook of a guardrail. Rejects if there is no verdict. */
  readonly webhook: (
    call: GuardedFields,
    guardrail: Guardrail,
    texts: readonly JudgedText[],
    side: GuardrailSide,
    signal: CallSignal,
  ) => Promise<RemoteVerdict>;
  readonly onRecords: (call: GuardedFields, records: readonly CheckRecord[]) => void;
}

/** Fields for the records of guardrails. */
export interface GuardedFields {
  readonly requestId: string;
  readonly principal: Principal;
}

export interface RelayOptions extends UpstreamObjectsOptions {
  readonly configSnapshot: () => ConfigSnapshot;
  readonly router: Router;
  readonly admission: Admission;
  readonly recorder: Recorder;
  readonly journal: Journal;
  readonly providerClient: ProviderClient;
  /** For what callers name: media at addresses of theirs. */
  readonly transport: Transport;
  readonly background: () => BackgroundResponses;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly observer: Observer;
  /** Absent: no traces are kept. */
  readonly tracing?: Pick<Tracing, "outbound">;
  /** Called for each call that a grant in shadow mode would have refused. */
  readonly onShadowDenial: (denial: ShadowDenial) => void;
  readonly explainer: Pick<Explainer, "explain" | "fold">;
  readonly guardrails: GuardrailServices;
  readonly bodies: BodyWork;
  readonly memory: CallerMemory;
  /** Files that callers uploaded to the gateway. */
  readonly files: () => Pick<Files, "find" | "open"> & { readonly copies: Pick<Files["copies"], "at"> };
  /** Whether calls of more than one workspace can reach this account. */
  readonly sharesAccount: (providerId: string) => boolean;
}

export interface RelayDependencies extends RelayOptions {
  readonly forecast: UsageForecast;
  /** Writes the intents of attempts. Throws ledger_unavailable: no intent, no dispatch. */
  readonly beforeSending: () => void;
  /** Streams that are under way, so that a drain can wait for them and, at its end, finish them honestly. */
  readonly live: Set<{ abort(failure: Failure): void }>;
  readonly upstreamObjects: UpstreamObjects;
}
