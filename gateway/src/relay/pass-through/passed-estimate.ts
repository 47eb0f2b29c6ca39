import { costOf, Failure, noUsage } from "#core/index.ts";
import type { Money } from "#limits/index.ts";
import { CallEstimate, type EstimateDependencies } from "../attempt/hold.ts";
import type { Call } from "../call.ts";
import type { PassedPrice } from "./passed-price.ts";

/** What a call that is passed through takes from the limits. */
export class PassedEstimate extends CallEstimate {
  override readonly tokens: number;
  override readonly isFree: boolean;
  readonly #price: PassedPrice;

  /** `isRead`: its body was; else nothing is known of what it will use. */
  constructor(dependencies: EstimateDependencies, call: Call, price: PassedPrice, isRead: boolean) {
    super(dependencies, call, [price.model]);
    this.isFree = price.by === "nothing";
    this.tokens = isRead ? dependencies.forecast.tokens(call, price.model) : 0;
    this.#price = price;
  }

  /** Asked only where a budget stands on the caller. Throws Failure forbidden: what nobody can price would go round it. */
  override money(): Money {
    const { by, floor, heldTimes } = this.#price;
    if (by === "unread") throw cannotRead();
    if (by === "unknown") throw cannotPrice();
    const { most, least } = super.money();
    const atLeast = floor === null ? 0 : costOf(floor.table, { ...noUsage, chargedRequests: 1 });
    return { most: Math.max(most * heldTimes, atLeast), least: Math.max(least * heldTimes, atLeast) };
  }
}

function cannotRead(): Failure {
  return new Failure(
    "forbidden",
    "A budget stands on this key, and nobody can say what this call asks for: its body cannot be read as a call of this path. Send it as JSON, or call the model under /v1.",
  );
}

function cannotPrice(): Failure {
  return new Failure(
    "forbidden",
    "A budget stands on this key, and nobody can say what this call costs: the provider has no price for a call that is passed through (settings.pass_through.price_per_call), and no model with a price is called.",
  );
}
