import type { Catalog } from "#core/index.ts";
import type { Recorder } from "#ledger/index.ts";
import type { Admission } from "#limits/index.ts";
import type { Clock, Journal, Observer, Transport } from "#ports/index.ts";
import type { Router } from "#routing/index.ts";
import type { UsageForecast } from "./estimate.ts";
import type { LiveStreams } from "./live-streams.ts";

/** What the relay works with; wired by main. */
export interface RelayOptions {
  readonly catalog: () => Catalog;
  readonly router: Router;
  readonly admission: Admission;
  readonly recorder: Recorder;
  readonly journal: Journal;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly observer: Observer;
}

export interface RelayHouse extends RelayOptions {
  readonly forecast: UsageForecast;
  readonly live: LiveStreams;
}
