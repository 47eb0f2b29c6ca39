import { type Overrides, upstream } from "../../started-gateway.ts";
import type { RowUpstream } from "./row-upstream.ts";

/** The cost of an answer of `RowUpstream` in nano-USD: 10 tokens of input at 1 USD per million, 5 of output at 10. */
export const rowCost = 10 * 1_000 + 5 * 10_000;

/** A gateway with one model, at this upstream. */
export function rowGateway({ url }: RowUpstream, more: Overrides = {}): Overrides {
  return {
    providers: (simulator) => [upstream("main", simulator, { base_url: url })],
    models: [{ name: "gpt-test", deployments: [{ provider: "main" }], price: { input: 1, output: 10 } }],
    ...more,
  };
}
