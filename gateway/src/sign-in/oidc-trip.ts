import { AsyncLocalStorage } from "node:async_hooks";
import type { Claims, Secret } from "#core/index.ts";

/** What is learned on one coming back from an issuer: the library has no place for it, and answers without it. */
export interface OidcTrip {
  claims: Claims | null;
  refreshToken: Secret | null;
  /** Whom the library let in, also where a second factor is still to come; null: nobody, or somebody who is connecting. */
  userId: string | null;
}

const trips = new AsyncLocalStorage<OidcTrip>();

/** Does `work`, and gives what was learned beside its result. */
export async function onTrip<Result>(work: () => Promise<Result>): Promise<{ result: Result; trip: OidcTrip }> {
  const trip: OidcTrip = { claims: null, refreshToken: null, userId: null };
  return { result: await trips.run(trip, work), trip };
}

/** Notes what was learned, where somebody is on a trip. */
export function learn(facts: Partial<OidcTrip>): void {
  const trip = trips.getStore();
  if (trip !== undefined) Object.assign(trip, facts);
}
