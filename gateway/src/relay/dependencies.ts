import type { BodyWork } from "#bodies/index.ts";
import type { CallerMemory, CallSignal, ConfigSnapshot, Failure, NanoUsd, Principal } from "#core/index.ts";
import type { Recorder } from "#ledger/index.ts";
import type { Admission } from "#limits/index.ts";
import type { Clock, Explainer, Ids, Journal, Observer, Tracing, Transport } from "#ports/index.ts";
import type { ProviderClient } from "#provider-client/index.ts";
import type { Router } from "#routing/index.ts";
import type { UsageForecast } from "./attempt/estimate.ts";
import type { UpstreamObjects, UpstreamObjectsOptions } from "./upstream-objects.ts";

/** Background responses, which go on as tasks when their calls are over. */
export interface BackgroundResponses {
  /** Sets money aside until the task of an attempt that is `pending` is settled. Before the permit of its call ends. */
  hold(principal: Principal, attemptId: string, nanoUsd: NanoUsd): Promise<void>;
  /** Polls a response that is not settled yet, because it is about to be ended or deleted. Never rejects. */
  refresh(workspaceId: string, upstreamId: string, signal: CallSignal): Promise<void>;
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
  readonly explainer: Pick<Explainer, "explain">;
  readonly bodies: BodyWork;
  readonly memory: CallerMemory;
  /** Whether calls of more than one workspace can reach this account. */
  readonly sharesAccount: (providerId: string) => boolean;
}

export interface RelayDependencies extends RelayOptions {
  readonly forecast: UsageForecast;
  /** Streams that are under way, so that a drain can wait for them and, at its end, finish them honestly. */
  readonly live: Set<{ abort(failure: Failure): void }>;
  readonly upstreamObjects: UpstreamObjects;
}
