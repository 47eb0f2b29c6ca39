import { expect, test } from "bun:test";
import type { BillClass } from "@sluice/contract/words";
import fc from "fast-check";
import { billClassOf, classNamed, decimalToNano, objectsOf, parseExact } from "../bill.ts";
import { summed } from "../reconciliation.ts";
import { anthropicCosts, anthropicPage, anthropicUsage } from "./anthropic.ts";
import { openaiBill, openaiCosts, openaiPage, openaiUsage } from "./openai.ts";
import { openrouterBill } from "./openrouter.ts";
import { readBill as readRows } from "./read-bill.ts";

const readBill = (...file: Parameters<typeof readRows>) => [...readRows(...file)].filter((line) => line !== null);

test.each([
  ["0.06", 0, 60_000_000],
  ["0.060000000000000005", 0, 60_000_000],
  ["1e-7", 0, 100],
  ["123.45", 2, 1_234_500_000],
  ["-0.0000000005", 0, -1],
  ["9007199.254740991", 0, Number.MAX_SAFE_INTEGER],
  ["9007199.254740992", 0, null],
  ["1,5", 0, null],
  ["", 0, null],
])("reads %j with %d places fewer as %p nano-USD", (text, scale, nano) => {
  expect(decimalToNano(text, scale)).toBe(nano);
});

test.each([
  ["uncached_input_tokens", "input"],
  ["non-cached input", "input"],
  ["input_uncached", "input"],
  ["input_uncached_tokens", "input"],
  ["separate_reasoning", "output"],
  ["charged_requests", "requests"],
  ["cached_input_tokens", "cache_read"],
  ["cache_read_input_tokens", "cache_read"],
  ["cache_creation.ephemeral_5m_input_tokens", "cache_write"],
  ["cache-write-1h-input-token-count", "cache_write"],
  ["output_tokens", "output"],
  ["gpt 4.1 Inp glbl Tokens", "input"],
  ["gpt 4.1 cached Inp", "cache_read"],
  ["web_search", "tools"],
  ["code_execution", "tools"],
  ["session_usage", "tools"],
  ["Promotional credit", "credit"],
])("%s is the class %s", (text, usageClass) => {
  expect(classNamed(text)).toBe(usageClass as BillClass);
});

test("reads every amount of whole nano-USD exactly", () => {
  fc.assert(
    fc.property(fc.integer({ min: -Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER }), (nano) => {
      const digits = String(Math.abs(nano)).padStart(10, "0");
      expect(decimalToNano(`${nano < 0 ? "-" : ""}${digits.slice(0, -9)}.${digits.slice(-9)}`)).toBe(nano);
    }),
  );
});

test("reads OpenAI's costs by line item, and takes quantities from the usage", () => {
  const cost = (line_item: string, value: string, quantity: number | null, unit = "tokens") =>
    `{"object":"organization.costs.result","amount":{"value":${value},"currency":"usd"},"line_item":"${line_item}","project_id":null,"quantity":${quantity},"quantity_unit":"${unit}"}`;
  const bucket = (results: string) =>
    `{"object":"bucket","start_time":1795737600,"end_time":1795824000,"results":[${results}]}`;
  const costs = openaiPage(
    parseExact(
      `{"object":"page","data":[${bucket(
        [
          cost("gpt-6-astra, input_tokens", "0.060000000000000005", 6_000),
          cost("gpt-6-astra, cached_input_tokens", "0.001", 1, "1000_tokens"),
          cost("gpt-6-astra, output_tokens", "5e-3", 100),
          cost("web search tool calls", "0.1", 10),
          cost("assistants api | file search", "0.3", 72, "gibibyte_hours"),
        ].join(","),
      )}],"has_more":true,"next_page":"p2"}`,
    ),
  );
  expect(costs.next).toBe("p2");
  const usage = openaiPage(
    parseExact(
      `{"object":"page","data":[${bucket(
        '{"input_tokens":7100,"input_uncached_tokens":6000,"input_cached_tokens":1000,"input_cache_write_tokens":100,"output_tokens":100,"num_model_requests":7,"model":"gpt-6-astra","batch":false,"service_tier":"priority"}',
      )}],"has_more":false,"next_page":null}`,
    ),
  );
  const place = { day: "2026-11-27", model: "gpt-6-astra" };
  const used = { ...place, costNanoUsd: null, requests: null, tier: "priority" };
  const billed = { ...place, requests: null, tier: null };
  expect(openaiBill(openaiCosts(costs.rows), openaiUsage(usage.rows))).toEqual([
    { ...used, usageClass: "input", units: 6_000, requests: 7 },
    { ...used, usageClass: "cache_read", units: 1_000 },
    { ...used, usageClass: "cache_write", units: 100 },
    { ...used, usageClass: "output", units: 100 },
    { ...billed, usageClass: "input", units: null, costNanoUsd: 60_000_000 },
    { ...billed, usageClass: "cache_read", units: null, costNanoUsd: 1_000_000 },
    { ...billed, usageClass: "output", units: null, costNanoUsd: 5_000_000 },
    { ...billed, model: "web search tool calls", usageClass: "tools", units: 10, costNanoUsd: 100_000_000 },
    { ...billed, model: "", usageClass: "other", units: null, costNanoUsd: 300_000_000 },
  ]);
});

test("reads Anthropic's analytics in cents, and the older cost report too", () => {
  const analytics = parseExact(
    `{"data":[{"starting_at":"2026-11-27T00:00:00Z","ending_at":"2026-11-28T00:00:00Z","group":{"model":"claude-opus-5","cost_type":"tokens","token_type":"cache_creation.ephemeral_1h_input_tokens"},
      "cost":{"amount":"123.4567","list_amount":"130","currency":"USD","requests":null}}],"has_more":true,"next_page":"abc","data_refreshed_at":"2026-11-28T04:00:00Z"}`,
  );
  const line = { day: "2026-11-27", model: "claude-opus-5", units: null, requests: null, tier: null };
  expect(anthropicPage(analytics).next).toBe("abc");
  expect(anthropicCosts(anthropicPage(analytics).rows)).toEqual([
    { ...line, usageClass: "cache_write", costNanoUsd: 1_234_567_000 },
  ]);
  const older = parseExact(
    `{"data":[{"starting_at":"2026-11-27T00:00:00Z","ending_at":"2026-11-28T00:00:00Z","results":[{"currency":"USD","amount":"123.45","workspace_id":null,"description":"Claude Opus 5 Usage - Output Tokens","cost_type":"tokens","model":"claude-opus-5","token_type":"output_tokens","service_tier":"batch"}]}],"has_more":false,"next_page":null}`,
  );
  expect(anthropicCosts(anthropicPage(older).rows)).toEqual([
    { ...line, usageClass: "output", costNanoUsd: 1_234_500_000, tier: "batch" },
  ]);
  const usage = parseExact(
    `{"data":[{"starting_at":"2026-11-27T00:00:00Z","ending_at":"2026-11-28T00:00:00Z","group":{"model":"claude-opus-5","service_tier":"standard","speed":"fast"},
      "usage":{"uncached_input_tokens":10,"cache_creation":{"ephemeral_5m_input_tokens":2,"ephemeral_1h_input_tokens":3},"cache_read_input_tokens":40,"output_tokens":5,"server_tool_use":{"web_search_requests":1},"total_tokens":60,"requests":2}}],"has_more":false,"next_page":null}`,
  );
  const counts = anthropicUsage(anthropicPage(usage).rows).map(({ usageClass, units, requests, tier }) => [
    usageClass,
    units,
    requests,
    tier,
  ]);
  expect(counts).toEqual([
    ["input", 10, 2, "fast"],
    ["cache_read", 40, null, "fast"],
    ["cache_write", 5, null, "fast"],
    ["output", 5, null, "fast"],
    ["tools", 1, null, "fast"],
  ]);
});

test("reads OpenRouter's activity with one cost for each model", () => {
  const answer = parseExact(
    '{"data":[{"date":"2026-11-27 00:00:00","model":"openai/gpt-6","usage":0.015,"byok_usage_inference":0.012,"requests":5,"prompt_tokens":50,"completion_tokens":125,"reasoning_tokens":25}]}',
  );
  expect(
    openrouterBill(answer).map(({ usageClass, units, costNanoUsd, requests }) => [
      usageClass,
      units,
      costNanoUsd,
      requests,
    ]),
  ).toEqual([
    ["input", 50, null, 5],
    ["output", 125, null, null],
    ["all", null, 27_000_000, null],
  ]);
});

const gist = (kind: "csv" | "focus" | "cur" | "gcp", text: string) =>
  readBill(kind, text).map(({ day, model, usageClass, units, costNanoUsd, tier }) => [
    day,
    model,
    usageClass,
    units,
    costNanoUsd,
    tier,
  ]);

test("reads CSV with quotes, other separators and other names of columns", () => {
  const text =
    '\ufeffDate;Model;Token_Type;Tokens;Cost\r\n2026-11-27;"gpt-6; ""astra""";output_tokens;12;0.5\r\n\r\n2026-11-27 03:00:00;gpt-6;cached_input;7;$0.25';
  expect(gist("csv", text)).toEqual([
    ["2026-11-27", 'gpt-6; "astra"', "output", 12, 500_000_000, null],
    ["2026-11-27", "gpt-6", "cache_read", 7, 250_000_000, null],
  ]);
});

test("reads FOCUS, without taxes", () => {
  const header =
    "ChargePeriodStart,ChargeCategory,BilledCost,BillingCurrency,ConsumedQuantity,ConsumedUnit,ChargeDescription,x_Model,x_UsageClass";
  const rows = [
    "2026-11-27T00:00:00Z,Usage,1.5,USD,1000,tokens,Output,gpt-6,output",
    "2026-11-27T00:00:00Z,Usage,0.5,USD,2,1K tokens,gpt 6 cached Inp,gpt-6,",
    "2026-11-27T00:00:00Z,Credit,-2,USD,,,Promotion,,",
    "2026-11-27T00:00:00Z,Tax,9,USD,,,VAT,,",
  ];
  expect(gist("focus", [header, ...rows].join("\n"))).toEqual([
    ["2026-11-27", "gpt-6", "output", 1_000, 1_500_000_000, null],
    ["2026-11-27", "gpt-6", "cache_read", 2_000, 500_000_000, null],
    ["2026-11-27", "", "credit", null, -2_000_000_000, null],
  ]);
});

test("reads Azure's FOCUS export: models and classes by meter, without other services, in USD", () => {
  const columns = [
    ...["BilledCost", "BillingAccountId", "BillingAccountName", "BillingAccountType", "BillingCurrency"],
    ...["BillingPeriodEnd", "BillingPeriodStart", "ChargeCategory", "ChargeClass", "ChargeDescription"],
    ...["ChargeFrequency", "ChargePeriodEnd", "ChargePeriodStart", "CommitmentDiscountId", "ConsumedQuantity"],
    ...["ConsumedUnit", "ContractedCost", "ContractedUnitPrice", "EffectiveCost", "InvoiceIssuerName", "ListCost"],
    ...["ListUnitPrice", "PricingCategory", "PricingQuantity", "PricingUnit", "ProviderName", "PublisherName"],
    ...["RegionId", "RegionName", "ResourceId", "ResourceName", "ResourceType", "ServiceCategory", "ServiceName"],
    ...["SkuId", "SkuMeter", "SkuPriceId", "SubAccountId", "SubAccountName", "SubAccountType", "Tags"],
    ...["x_BilledCostInUsd", "x_PricingBlockSize", "x_PricingUnitDescription", "x_SkuMeterCategory", "x_SkuMeterName"],
  ];
  const row = (meter: string, tokens: number, usd: number, more: Readonly<Record<string, string>> = {}) => {
    const values: Readonly<Record<string, string>> = {
      ...{ ProviderName: "Microsoft", ResourceName: "our-foundry", ServiceName: "Foundry Models", SkuMeter: meter },
      ...{ BillingCurrency: "EUR", BilledCost: String(usd / 2), x_BilledCostInUsd: String(usd) },
      ...{ ChargeCategory: "Usage", ChargePeriodStart: "2026-11-27T00:00Z", ChargeDescription: "Azure usage" },
      ...{ ConsumedQuantity: String(tokens), ConsumedUnit: "Units", PricingQuantity: String(tokens / 1_000) },
      ...{ PricingUnit: "Units", x_PricingBlockSize: "1000", x_PricingUnitDescription: "1K", x_SkuMeterName: meter },
      ...{ x_SkuMeterCategory: "Foundry Models", Tags: '"{""team"":""search, ads""}"' },
      ...more,
    };
    return columns.map((column) => values[column] ?? "").join(",");
  };
  const rows = [
    row("gpt 4.1 mini Inp glbl Tokens", 12_000, 0.0048),
    row("gpt 4.1 mini cached Inp glbl Tokens", 3_000, 0.0003),
    row("gpt 4.1 mini Outp glbl Tokens", 500, 0.0008),
    row("5.4 cd inp Gl 1M Tokens", 2_000_000, 0.25, { x_PricingBlockSize: "1000000", x_PricingUnitDescription: "1M" }),
    row("5.4 opt Batch DZ 1M Tokens", 1_000, 0.005),
    row("D4s v5", 24, 4.6, { ServiceName: "Virtual Machines", x_SkuMeterCategory: "Virtual Machines" }),
    row("gpt 4.1 Inp glbl Tokens", 0, 9, { ChargeCategory: "Tax" }),
  ];
  expect(gist("focus", [columns.join(","), ...rows].join("\r\n"))).toEqual([
    ["2026-11-27", "gpt-4.1-mini", "input", 12_000, 4_800_000, null],
    ["2026-11-27", "gpt-4.1-mini", "cache_read", 3_000, 300_000, null],
    ["2026-11-27", "gpt-4.1-mini", "output", 500, 800_000, null],
    ["2026-11-27", "gpt-5.4", "cache_read", 2_000_000, 250_000_000, null],
    ["2026-11-27", "gpt-5.4", "output", 1_000, 5_000_000, "batch"],
  ]);
});

test("reads AWS usage types as model, class and tier", () => {
  const header =
    "line_item_usage_start_date,line_item_line_item_type,line_item_product_code,line_item_usage_type,line_item_usage_amount,line_item_unblended_cost,line_item_currency_code";
  const rows = [
    "2026-11-27T05:00:00Z,Usage,AmazonBedrock,USE1-Claude5Sonnet-input-tokens,1.5,0.003,USD",
    "2026-11-27T05:00:00Z,Usage,AmazonBedrock,USE1-Nova2Pro-cache-read-input-token-count-batch,2,0.001,USD",
    "2026-11-27T05:00:00Z,Usage,AmazonS3,USE1-Requests,2,0.001,USD",
    "2026-11-27T05:00:00Z,Credit,AmazonBedrock,USE1-Claude5Sonnet-output-tokens,0,-1,USD",
  ];
  expect(gist("cur", [header, ...rows].join("\n"))).toEqual([
    ["2026-11-27", "Claude5Sonnet", "input", 1_500, 3_000_000, null],
    ["2026-11-27", "Nova2Pro", "cache_read", 2_000, 1_000_000, "batch"],
    ["2026-11-27", "Claude5Sonnet", "credit", null, -1_000_000_000, null],
  ]);
});

test("reads Google's export in USD, with credits as rows", () => {
  const row = {
    service: { description: "Vertex AI" },
    sku: { description: "Gemini 3.8 Flash Text Input - Predictions" },
    usage_start_time: "2026-11-27 05:00:00 UTC",
    cost: 0.9,
    currency: "EUR",
    currency_conversion_rate: 0.9,
    usage: { amount_in_pricing_units: 2, pricing_unit: "1M tokens" },
    credits: [{ amount: -0.45 }],
    cost_type: "regular",
  };
  const other = { ...row, service: { description: "Cloud Storage" } };
  expect(gist("gcp", `${JSON.stringify(row)}\n${JSON.stringify(other)}\n`)).toEqual([
    ["2026-11-27", "gemini-3.8-flash", "input", 2_000_000, 1_000_000_000, null],
    ["2026-11-27", "gemini-3.8-flash", "credit", null, -500_000_000, null],
  ]);
});

test.each([
  ["1000000 Tokens", 2_000_000],
  ["1,000,000 tokens", 2_000_000],
  ["1M Tokens", 2_000_000],
  ["1,000 tokens", 2_000],
  ["1000 Tokens", 2_000],
  ["1K", 2_000],
  ["Tokens", 2],
])("counts 2 of the pricing unit %s as %p units", (unit, units) => {
  const table = `ChargePeriodStart,BilledCost,SkuId,PricingQuantity,PricingUnit\n2026-11-28,1,large/input,2,"${unit}"\n`;
  expect(readBill("focus", table)[0]?.units).toBe(units);
});

test("long texts in a file take no more time than short ones", () => {
  const spaces = " ".repeat(100_000);
  const row = {
    ...{ service: { description: "Vertex AI" }, usage_start_time: "2026-11-27", cost: "1" },
    ...{ sku: { description: `x${spaces}y` }, usage: { amount_in_pricing_units: "2", pricing_unit: `1${spaces}x` } },
  };
  expect(readBill("gcp", JSON.stringify(row))).toMatchObject([{ model: "x", units: 2 }]);
  const table = (unit: string, cost: string) =>
    `ChargePeriodStart,BilledCost,SkuId,PricingQuantity,PricingUnit\n2026-11-28,${cost},large/input,2,${unit}\n`;
  expect(readBill("focus", table(`1${spaces}x`, "1"))[0]?.units).toBe(2);
  const type = "-input-token-count".repeat(10_000);
  const usage = `line_item_usage_start_date,line_item_usage_type,line_item_unblended_cost\n2026-11-28,${type}1,1\n`;
  expect(readBill("cur", usage)).toMatchObject([{ usageClass: "input" }]);
  expect(() => readBill("csv", `day,cost\n2026-11-28,${"9".repeat(200_000)}\n`)).toThrow(/^Cannot read.{1,600}$/);
  const longer = "x".repeat(300_000);
  expect(() => readBill("csv", `day,cost\n2026-11-28,"${longer}"\n`)).toThrow("a field near line 2 has more than");
  expect(() => readBill("gcp", JSON.stringify({ longer }))).toThrow("a row has more than");
});

test("refuses a page that has more pages without a name, because a part is not the bill", () => {
  const page = { data: [], has_more: true, next_page: null };
  expect(() => openaiPage(page)).toThrow("more pages");
  expect(() => anthropicPage(page)).toThrow("more pages");
});

test("refuses a cost in another currency, because a part is not the bill", () => {
  const openai = parseExact(
    '[{"start_time":1795737600,"results":[{"amount":{"value":1,"currency":"eur"},"line_item":"gpt-6-astra, output_tokens"}]}]',
  );
  expect(() => openaiCosts(objectsOf(openai))).toThrow("in eur. Only USD");
  const anthropic = parseExact('[{"starting_at":"2026-11-27T00:00:00Z","amount":"100","currency":"EUR"}]');
  expect(() => anthropicCosts(objectsOf(anthropic))).toThrow("in EUR. Only USD");
});

test("other work runs while the rows of a bill are added up", async () => {
  const rows = Array.from({ length: 1_000 }, (_, n) => `2026-11-28,m,input,${n},0.5`);
  const bill = readRows("csv", ["day,model,class,units,cost", ...rows].join("\n"));
  let [now, turns, isOver] = [0, 0, false];
  const turn = (): void => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  // Every 32 rows take as long as one slice.
  const [line, ...more] = await summed(bill, { monotonic: () => (now += 5) });
  isOver = true;
  expect([line?.units, line?.costNanoUsd, more]).toEqual([499_500, 500_000_000_000, []]);
  expect(turns).toBeGreaterThanOrEqual(Math.floor(1_000 / 32) - 1);
});

test("rows that are no part of the bill are passed one by one", () => {
  const rows = [...readRows("focus", "ChargePeriodStart,BilledCost,ChargeCategory\n\n2026-11-28T00:00:00Z,1,Tax\n")];
  expect(rows).toEqual([null, null]);
});

test("the ledger's own name of a usage class is the class in which bills have it", () => {
  for (const [name, usageClass] of Object.entries(billClassOf)) {
    if (usageClass === null) continue;
    const snake = name.replace(/[A-Z]|(?<=[a-z])\d/g, (mark) => `_${mark.toLowerCase()}`);
    expect([snake, classNamed(snake)]).toEqual([snake, usageClass]);
  }
});
