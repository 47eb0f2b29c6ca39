import type { BodyWork } from "#bodies/index.ts";
import type { Catalog } from "#core/index.ts";
import type { Recorder } from "#ledger/index.ts";
import type { Admission } from "#limits/index.ts";
import type { Clock, Explainer, Ids, Journal, LedgerStore, Observer, Transport } from "#ports/index.ts";
import type { Router } from "#routing/index.ts";
import type { AccountTokens } from "./account-tokens.ts";
import type { BackgroundBills } from "./background-bills.ts";
import type { UsageForecast } from "./estimate.ts";
import type { Keepers } from "./keepers.ts";
import type { LiveStreams } from "./live-streams.ts";
import type { ObjectOwners } from "./object-owners.ts";

/** What the relay works with; wired by main. */
export interface RelayOptions {
  readonly catalog: () => Catalog;
  readonly router: Router;
  readonly admission: Admission;
  readonly recorder: Recorder;
  readonly journal: Journal;
  readonly transport: Transport;
  readonly ledgerStore: Pick<LedgerStore, "keeper">;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly observer: Observer;
  readonly explainer: Pick<Explainer, "explain">;
  readonly bodies: BodyWork;
  /** Whether calls of more than one workspace can reach this account. */
  readonly sharesAccount: (providerId: string) => boolean;
}

export interface RelayHouse extends RelayOptions {
  readonly forecast: UsageForecast;
  readonly live: LiveStreams;
  readonly keepers: Keepers;
  readonly owners: ObjectOwners;
  readonly tokens: AccountTokens;
  readonly bills: BackgroundBills;
}
