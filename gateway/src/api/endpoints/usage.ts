import { comparedCosts, Failure, nanoToUsd } from "#core/index.ts";
import { withKey } from "../authenticated.ts";

const defaultSpanMs = 30 * 86_400_000;

/** GET /v1/usage: the key's usage by model, and its limits. Times are Unix seconds. */
export const getUsage = withKey(async (dependencies, exchange, principal) => {
  const query = new URLSearchParams(exchange.query);
  const to = readSeconds(query, "to") ?? dependencies.clock.now() + 1;
  const from = readSeconds(query, "from") ?? to - defaultSpanMs;
  const [sums, limits] = await Promise.all([
    dependencies.keyUsage(principal, from, to),
    dependencies.limitUsage(principal),
  ]);
  const data = sums.map((sum) => ({
    model: sum.model,
    requests: sum.requests,
    input_tokens: sum.inputTokens,
    output_tokens: sum.outputTokens,
    cost_usd: nanoToUsd(sum.costNanoUsd),
    ...comparedCosts(sum.vendorCostNanoUsd, sum.comparedCostNanoUsd),
  }));
  return {
    object: "usage",
    from: Math.floor(from / 1_000),
    to: Math.floor(to / 1_000),
    data,
    totals: {
      requests: sum(sums.map((row) => row.requests)),
      input_tokens: sum(sums.map((row) => row.inputTokens)),
      output_tokens: sum(sums.map((row) => row.outputTokens)),
      cost_usd: nanoToUsd(sum(sums.map((row) => row.costNanoUsd))),
      ...comparedCosts(sum(sums.map((row) => row.vendorCostNanoUsd)), sum(sums.map((row) => row.comparedCostNanoUsd))),
    },
    limits,
  };
});

function readSeconds(query: URLSearchParams, name: string): number | null {
  const text = query.get(name);
  if (text === null) return null;
  if (!/^\d{1,12}$/.test(text)) {
    throw new Failure("invalid_request", `The parameter "${name}" must be a time in Unix seconds.`, { param: name });
  }
  return Number(text) * 1_000;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
