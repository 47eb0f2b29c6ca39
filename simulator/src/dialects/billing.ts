import type { SimulatorRequest } from "../request.ts";
import type { Truth, TruthRecord } from "../truth.ts";

/** How the simulated vendors bill what they served. */
export interface BillingRules {
  /** The key that may read bills. */
  readonly adminKey: string;
  /** USD per million tokens, by model. A model without a price is billed at 0. */
  readonly prices: Readonly<Record<string, BilledPrice>>;
  /** Tier at which all calls of a model are billed, with its factor. */
  readonly tiers?: Readonly<Record<string, { readonly tier: string; readonly factor: number }>>;
  /** Added to the times of a model's calls (in milliseconds), and of all other models by `""`: places them on another day. */
  readonly shiftsMs?: Readonly<Record<string, number>>;
  /** Charges without calls, such as credits. `day`: `YYYY-MM-DD`. */
  readonly charges?: readonly { readonly day: string; readonly item: string; readonly usd: number }[];
  /** Status with which Anthropic's analytics refuse the admin key, which may then read only the older reports. */
  readonly analyticsRefusal?: 403 | 404;
  /** Anthropic's workspace of all calls of a model. Without one, the default workspace. */
  readonly workspaces?: Readonly<Record<string, string>>;
  /** Rows on a page. Default 7. */
  readonly pageRows?: number;
  /** Anthropic refuses pages with a higher `limit` as too large. */
  readonly limitMax?: number;
}

interface BilledPrice {
  readonly input: number;
  readonly cached?: number;
  readonly output: number;
}

export interface SimulatedBilling {
  set(rules: BillingRules): void;
  /** null: the path is not one of a bill, or no rules were set. */
  answer(request: SimulatorRequest): { readonly status: number; readonly body: string } | null;
}

interface Tokens {
  input: number;
  cached: number;
  written: number;
  output: number;
  requests: number;
}

interface BilledRow extends Tokens {
  readonly day: number;
  readonly model: string;
  readonly tier: string;
  readonly factor: number;
}

const dayMs = 86_400_000;

/** The billing endpoints of OpenAI, Anthropic and OpenRouter, from the truth. A call belongs to the day on which it ended (UTC). */
export function createBilling(truth: Truth): SimulatedBilling {
  let rules: BillingRules | null = null;
  const pageOf = <Row>(rows: readonly Row[], query: URLSearchParams, own: BillingRules) => {
    const start = Number(query.get("page")?.slice("page_".length) ?? 0);
    const end = start + (own.pageRows ?? 7);
    const isLast = end >= rows.length;
    return { rows: rows.slice(start, end), has_more: !isLast, next_page: isLast ? null : `page_${end}` };
  };
  return {
    set(next) {
      rules = next;
    },
    answer(request) {
      if (rules === null || request.method !== "GET") return null;
      const vendor = vendors.find(({ path }) => path.test(request.path));
      if (vendor === undefined) return null;
      const { headers } = request;
      const key = headers["x-api-key"] ?? headers["authorization"]?.replace(/^Bearer /, "");
      if (key !== rules.adminKey) {
        const error = { type: "authentication_error", message: `Incorrect admin key provided: ${key ?? "none"}` };
        return { status: 401, body: JSON.stringify({ error }) };
      }
      const own = rules;
      if (own.analyticsRefusal !== undefined && request.path.includes("/analytics/")) {
        const error = { type: "permission_error", message: "This key may not read analytics" };
        return { status: own.analyticsRefusal, body: JSON.stringify({ type: "error", error }) };
      }
      const problem = request.path.startsWith("/v1/organizations/") ? headerProblem(request) : null;
      if (problem !== null) {
        const error = { type: "invalid_request_error", message: problem };
        return { status: 400, body: JSON.stringify({ type: "error", error }) };
      }
      const query = new URLSearchParams(request.query);
      const days = ((timeIn(query, "", "ending_at") ?? 0) - (timeIn(query, "", "starting_at") ?? 0)) / dayMs;
      if (days > analyticsDaysMax && request.path.includes("/analytics/")) {
        const error = { type: "invalid_request_error", message: "The range has more than 31 days" };
        return { status: 400, body: JSON.stringify({ type: "error", error }) };
      }
      if (Number(query.get("limit")) > (own.limitMax ?? Number.POSITIVE_INFINITY)) {
        const [type, message] = ["invalid_request_error", "This page has too much usage. Send a lower limit."];
        const error = { type, message, details: { error_code: "report_page_too_large" } };
        return { status: 400, body: JSON.stringify({ type: "error", error }) };
      }
      const page = <Row>(rows: readonly Row[]) => pageOf(rows, query, own);
      const body = vendor.write({ request, query, rules: own, rows: billedRows(truth, own, query), page });
      return body === null ? { status: 404, body: '{"error":{"message":"no such report"}}' } : { status: 200, body };
    },
  };
}

/** Of Anthropic's analytics. */
const analyticsDaysMax = 31;
const analyticsBeta = "analytics-usage-cost-2026-08-24";

/** A header that Anthropic requires and the request lacks; null: none. */
function headerProblem({ path, headers }: SimulatorRequest): string | null {
  if (headers["anthropic-version"] === undefined) return "anthropic-version: header is required";
  const isOfAnalytics = path.includes("/analytics/");
  return isOfAnalytics && headers["anthropic-beta"] !== analyticsBeta ? `This needs the beta ${analyticsBeta}` : null;
}

interface Report {
  readonly request: SimulatorRequest;
  readonly query: URLSearchParams;
  readonly rules: BillingRules;
  readonly rows: readonly BilledRow[];
  page<Row>(rows: readonly Row[]): { rows: readonly Row[]; has_more: boolean; next_page: string | null };
}

const vendors: readonly { readonly path: RegExp; write(report: Report): string | null }[] = [
  { path: /^\/v1\/organization\/costs$/, write: openaiCosts },
  { path: /^\/v1\/organization\/usage\/[a-z_]+$/, write: openaiUsage },
  { path: /^\/v1\/organizations\/analytics\/(?:cost|usage)$/, write: anthropicReport },
  { path: /^\/v1\/organizations\/cost_report$/, write: anthropicOlderCosts },
  { path: /^\/v1\/organizations\/usage_report\/messages$/, write: anthropicOlderUsage },
  { path: /^\/api\/v1\/activity$/, write: openrouterActivity },
];

function billedRows(truth: Truth, rules: BillingRules, query: URLSearchParams): readonly BilledRow[] {
  const from = timeIn(query, "start_time", "starting_at") ?? Number.NEGATIVE_INFINITY;
  const to = timeIn(query, "end_time", "ending_at") ?? Number.POSITIVE_INFINITY;
  const keys = query.getAll("api_key_ids[]");
  const rows = new Map<string, BilledRow>();
  for (const record of truth.list().data) {
    if (!isBilled(record) || (keys.length > 0 && !keys.includes(record.authorization_last4 ?? ""))) continue;
    const { shiftsMs = {} } = rules;
    const at = (record.ended_at ?? record.received_at) + (shiftsMs[record.model] ?? shiftsMs[""] ?? 0);
    const day = at - (at % dayMs);
    if (day < from || day >= to) continue;
    const { tier = "default", factor = 1 } = rules.tiers?.[record.model] ?? {};
    const name = `${day} ${record.model}`;
    const row = rows.get(name) ?? { day, model: record.model, tier, factor, ...noTokens };
    rows.set(name, row);
    row.input += record.prompt_tokens - record.cached_tokens - record.cache_write_tokens;
    row.cached += record.cached_tokens;
    row.written += record.cache_write_tokens;
    row.output += record.output_tokens_emitted + (record.output_tokens_emitted > 0 ? 0 : record.reasoning_tokens);
    row.requests += 1;
  }
  return [...rows.values()].toSorted((one, other) => one.day - other.day || (one.model < other.model ? -1 : 1));
}

const noTokens = { input: 0, cached: 0, written: 0, output: 0, requests: 0 };

function isBilled({ status, model, prompt_tokens }: TruthRecord): boolean {
  return status === 200 && model !== "" && prompt_tokens > 0;
}

function timeIn(query: URLSearchParams, seconds: string, date: string): number | null {
  const [unix, text] = [query.get(seconds), query.get(date)];
  if (unix !== null) return Number(unix) * 1_000;
  return text === null ? null : Date.parse(text);
}

/** USD of each class, without noise of floating point. */
function costsOf(
  { model, factor, ...tokens }: BilledRow,
  rules: BillingRules,
): readonly (readonly [string, number, number])[] {
  const { input, output, cached = input } = rules.prices[model] ?? { input: 0, output: 0 };
  const classes = [
    ["input_tokens", tokens.input, input],
    ["cached_input_tokens", tokens.cached, cached],
    ["cache_write_input_tokens", tokens.written, input],
    ["output_tokens", tokens.output, output],
  ] as const;
  return classes.flatMap(([name, count, price]) =>
    count === 0 ? [] : [[name, count, Number(((count * price * factor) / 1_000_000).toFixed(12))] as const],
  );
}

function bucketOf(day: number, results: readonly object[]) {
  return { object: "bucket", start_time: day / 1_000, end_time: (day + dayMs) / 1_000, results };
}

function openaiCosts({ rules, rows, page, query }: Report): string {
  const from = timeIn(query, "start_time", "starting_at") ?? 0;
  const to = timeIn(query, "end_time", "ending_at") ?? Number.POSITIVE_INFINITY;
  const nulls = { project_id: null, api_key_id: null, user_id: null, api_source: null };
  const object = "organization.costs.result";
  const costs = rows.flatMap((row) =>
    costsOf(row, rules).map(([name, quantity, value]) =>
      bucketOf(row.day, [
        {
          object,
          amount: { value, currency: "usd" },
          line_item: `${row.model}, ${name}`,
          quantity,
          quantity_unit: "tokens",
          ...nulls,
        },
      ]),
    ),
  );
  const charges = (rules.charges ?? []).flatMap(({ day, item, usd: value }) => {
    const at = Date.parse(`${day}T00:00:00Z`);
    if (at < from || at >= to) return [];
    return [
      bucketOf(at, [
        { object, amount: { value, currency: "usd" }, line_item: item, quantity: null, quantity_unit: null, ...nulls },
      ]),
    ];
  });
  const { rows: data, ...next } = page([...costs, ...charges]);
  return JSON.stringify({ object: "page", data, ...next });
}

function openaiUsage({ request, rows, page }: Report): string {
  const isOfCompletions = request.path.endsWith("/completions");
  const buckets = (isOfCompletions ? rows : []).map((row) =>
    bucketOf(row.day, [
      {
        object: "organization.usage.completions.result",
        input_tokens: row.input + row.cached + row.written,
        input_uncached_tokens: row.input,
        input_cached_tokens: row.cached,
        input_cache_write_tokens: row.written,
        output_tokens: row.output,
        num_model_requests: row.requests,
        model: row.model,
        batch: false,
        service_tier: row.tier,
      },
    ]),
  );
  const { rows: data, ...next } = page(buckets);
  return JSON.stringify({ object: "page", data, ...next });
}

const anthropicTokens: Readonly<Record<string, string>> = {
  input_tokens: "uncached_input_tokens",
  cached_input_tokens: "cache_read_input_tokens",
  cache_write_input_tokens: "cache_creation.ephemeral_5m_input_tokens",
  output_tokens: "output_tokens",
};

function anthropicTime({ day }: BilledRow) {
  return { starting_at: new Date(day).toISOString(), ending_at: new Date(day + dayMs).toISOString() };
}

function anthropicTokensOf({ input, written, cached, output }: BilledRow) {
  return {
    uncached_input_tokens: input,
    cache_creation: { ephemeral_5m_input_tokens: written, ephemeral_1h_input_tokens: 0 },
    cache_read_input_tokens: cached,
    output_tokens: output,
    server_tool_use: { web_search_requests: 0 },
  };
}

const anthropicTier = ({ tier }: BilledRow) => (tier === "default" ? "standard" : tier);

/** Costs of the whole organization: this report has no filters. */
function anthropicOlderCosts({ rules, rows, page }: Report): string {
  const buckets = rows.flatMap((row) =>
    costsOf(row, rules).map(([name, , usd]) => ({
      ...anthropicTime(row),
      results: [
        {
          // Cents, with fractions.
          ...{ amount: (usd * 100).toFixed(10), currency: "USD", cost_type: "tokens", context_window: "0-200k" },
          ...{ model: row.model, service_tier: anthropicTier(row), token_type: anthropicTokens[name] },
          ...{ workspace_id: rules.workspaces?.[row.model] ?? null, description: `${row.model} Usage` },
        },
      ],
    })),
  );
  const { rows: data, ...next } = page(buckets);
  return JSON.stringify({ data, ...next });
}

/** Rows of the workspaces that the query names. */
function inWorkspaces({ query, rules, rows }: Report): readonly BilledRow[] {
  const wanted = query.getAll("workspace_ids[]");
  return rows.filter(({ model }) => wanted.length === 0 || wanted.includes(rules.workspaces?.[model] ?? ""));
}

function anthropicOlderUsage(report: Report): string {
  const buckets = inWorkspaces(report).map((row) => ({
    ...anthropicTime(row),
    results: [{ ...anthropicTokensOf(row), model: row.model, service_tier: anthropicTier(row) }],
  }));
  const { rows: data, ...next } = report.page(buckets);
  return JSON.stringify({ data, ...next });
}

function anthropicReport(report: Report): string {
  const { request, rules, page } = report;
  const rows = inWorkspaces(report);
  const isCost = request.path.endsWith("/cost");
  const costs = rows.flatMap((row) =>
    costsOf(row, rules).map(([name, , usd]) => {
      // Cents, with fractions.
      const amount = (usd * 100).toFixed(10);
      const group = { model: row.model, cost_type: "tokens", token_type: anthropicTokens[name] };
      return { ...anthropicTime(row), group, cost: { amount, list_amount: amount, currency: "USD", requests: null } };
    }),
  );
  const usage = rows.map((row) => ({
    ...anthropicTime(row),
    group: { model: row.model, service_tier: anthropicTier(row), speed: "standard" },
    usage: {
      ...anthropicTokensOf(row),
      total_tokens: row.input + row.cached + row.written + row.output,
      requests: row.requests,
    },
  }));
  const { rows: data, ...next } = isCost ? page<object>(costs) : page<object>(usage);
  return JSON.stringify({ data, ...next, data_refreshed_at: new Date().toISOString() });
}

function openrouterActivity({ query, rules, rows }: Report): string {
  const wanted = query.get("date");
  const data = rows.flatMap((row) => {
    const date = new Date(row.day).toISOString().slice(0, 10);
    if (wanted !== null && date !== wanted) return [];
    const usage = costsOf(row, rules).reduce((sum, [, , usd]) => sum + usd, 0);
    const prompt = row.input + row.cached + row.written;
    const tokens = { prompt_tokens: prompt, completion_tokens: row.output, reasoning_tokens: 0 };
    return [
      {
        date,
        model: row.model,
        provider_name: "Simulator",
        usage,
        byok_usage_inference: 0,
        requests: row.requests,
        ...tokens,
      },
    ];
  });
  return JSON.stringify({ data });
}
