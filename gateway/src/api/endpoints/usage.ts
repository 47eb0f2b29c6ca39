import { comparedCosts, Failure, nanoToUsd } from "#core/index.ts";
import type { KeyUsageQuery, UsageSum } from "#ports/index.ts";
import { withKey } from "../authenticated.ts";

const defaultSpanMs = 30 * 86_400_000;

/** GET /v1/usage: the key's usage by model or by the values of a tag, and its limits. Times are Unix seconds. */
export const getUsage = withKey(async (exchange, principal) => {
  const { dependencies } = exchange;
  const query = new URLSearchParams(exchange.query);
  const to = readSeconds(query, "to") ?? dependencies.clock.now() + 1;
  const from = readSeconds(query, "from") ?? to - defaultSpanMs;
  const tag = readTag(query);
  const [sums, limits] = await Promise.all([
    dependencies.keyUsage(principal, { from, to, ...(tag === null ? {} : { tag }) }),
    dependencies.limitUsage(principal),
  ]);
  const data = sums.map((sum) => ({
    ...(tag?.groups === true
      ? { tag: tag.name, tag_value: sum.model === "" ? null : sum.model }
      : { model: sum.model }),
    ...countsOf([sum]),
  }));
  const [fromSeconds, toSeconds] = [from, to].map((ms) => Math.floor(ms / 1_000));
  return { object: "usage", from: fromSeconds, to: toSeconds, data, totals: countsOf(sums), limits };
});

/** The tag to group by (`group_by=tag`) or to filter by (`tag_value`). null: neither. Throws Failure invalid_request. */
function readTag(query: URLSearchParams): NonNullable<KeyUsageQuery["tag"]> | null {
  const groupBy = query.get("group_by");
  const name = query.get("tag");
  const value = query.get("tag_value");
  if (groupBy !== null && groupBy !== "model" && groupBy !== "tag") {
    throw new Failure("invalid_request", 'The parameter "group_by" must be model or tag.', { param: "group_by" });
  }
  const groups = groupBy === "tag";
  if (name === null) {
    if (!groups && value === null) return null;
    throw new Failure("invalid_request", 'Name the tag in the parameter "tag".', { param: "tag" });
  }
  if (!/^[^"\\]{1,128}$/.test(name)) {
    throw new Failure("invalid_request", 'The parameter "tag" must be the name of a tag.', { param: "tag" });
  }
  if (!groups && value === null) {
    throw new Failure("invalid_request", 'Filter with "tag_value", or use group_by=tag.', { param: "tag_value" });
  }
  return { name, groups, ...(value === null ? {} : { value }) };
}

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
