import { comparedCosts, Failure, nanoToUsd } from "#core/index.ts";
import type { UsageSum } from "#ports/index.ts";
import { withKey } from "../authenticated.ts";

const defaultSpanMs = 30 * 86_400_000;

/** GET /v1/usage: the key's usage by model, and its limits. Times are Unix seconds. */
export const getUsage = withKey(async (exchange, principal) => {
  const { dependencies } = exchange;
  const query = new URLSearchParams(exchange.query);
  const to = readSeconds(query, "to") ?? dependencies.clock.now() + 1;
  const from = readSeconds(query, "from") ?? to - defaultSpanMs;
  const [sums, limits] = await Promise.all([
    dependencies.keyUsage(principal, from, to),
    dependencies.limitUsage(principal),
  ]);
  const data = sums.map((sum) => ({ model: sum.model, ...countsOf([sum]) }));
  const [fromSeconds, toSeconds] = [from, to].map((ms) => Math.floor(ms / 1_000));
  return { object: "usage", from: fromSeconds, to: toSeconds, data, totals: countsOf(sums), limits };
});

function countsOf(sums: readonly UsageSum[]): object {
  const total = (count: (sum: UsageSum) => number) => sums.reduce((all, sum) => all + count(sum), 0);
  return {
    requests: total((sum) => sum.requests),
    input_tokens: total((sum) => sum.inputTokens),
    output_tokens: total((sum) => sum.outputTokens),
    cost_usd: nanoToUsd(total((sum) => sum.costNanoUsd)),
    ...comparedCosts(
      total((sum) => sum.vendorCostNanoUsd),
      total((sum) => sum.comparedCostNanoUsd),
    ),
  };
}

function readSeconds(query: URLSearchParams, name: string): number | null {
  const text = query.get(name);
  if (text === null) return null;
  if (!/^\d{1,12}$/.test(text)) {
    throw new Failure("invalid_request", `The parameter "${name}" must be a time in Unix seconds.`, { param: name });
  }
  return Number(text) * 1_000;
}
