import { Failure } from "#core/index.ts";
import type { Estimate, Money } from "#limits/index.ts";
import type { UsageForecast } from "../attempt/estimate.ts";
import { CallEstimate } from "../attempt/worst-case.ts";
import type { Call } from "../call.ts";
import type { PassedPrice } from "./passed-price.ts";

/** What a call that is passed through takes from the limits. */
export class PassedEstimate implements Estimate {
  readonly tokens: number;
  readonly isFree: boolean;
  readonly #price: PassedPrice;
  readonly #estimate: CallEstimate;

  /** `isRead`: its body was; else nothing is known of what it will use. */
  constructor(forecast: UsageForecast, call: Call, price: PassedPrice, isRead: boolean) {
    this.isFree = price.by === "nothing";
    this.#price = price;
    this.#estimate = new CallEstimate(forecast, call, price.model);
    this.tokens = isRead ? this.#estimate.tokens : 0;
  }

  /** Asked only where a budget stands on the caller. Throws Failure forbidden: what nobody can price would go round it. */
  money(): Money {
    if (this.#price.by === "unknown") throw cannotPrice();
    return this.#estimate.money();
  }
}

function cannotPrice(): Failure {
  return new Failure(
    "forbidden",
    "A budget stands on this key, and nobody can say what this call costs: the provider has no price for a call that is passed through (settings.pass_through.price_per_call), and no model with a price is called.",
  );
}
