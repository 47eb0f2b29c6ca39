import type { Deployment, Model } from "#core/index.ts";
import { ExactSum } from "./exact-sum.ts";

/** The deployment that would have answered a call instead. */
export interface Route {
  readonly model: Model;
  readonly deployment: Deployment;
}

/** Calls that would have moved between two models or providers. */
export class Move {
  readonly from: { readonly model: string; readonly provider: string };
  readonly to: { readonly model: string; readonly provider: string };
  calls = 0;
  readonly recorded = new ExactSum();
  readonly rehearsed = new ExactSum();

  constructor(from: Move["from"], to: Move["to"]) {
    this.from = from;
    this.to = to;
  }
}
