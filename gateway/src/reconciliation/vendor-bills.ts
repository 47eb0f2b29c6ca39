import type { VendorBillingKind } from "@sluice/contract/words";
import { Failure, type Provider, type Secret } from "#core/index.ts";
import type { ProviderClient, WholeAnswer } from "#provider-client/index.ts";
import { outboundDraft } from "#providers/index.ts";
import {
  type BillLine,
  dayAt,
  dayMs,
  type ExactObject,
  objectOf,
  parseExact,
  type ReportPage,
  textIn,
} from "./bill.ts";
import { anthropicCosts, anthropicPage, anthropicUsage } from "./sources/anthropic.ts";
import { openaiBill, openaiCosts, openaiPage, openaiUsage } from "./sources/openai.ts";
import { openrouterBill } from "./sources/openrouter.ts";

/** The part of a vendor's account that the gateway uses. */
interface BilledAccount {
  readonly projects?: readonly string[] | undefined;
  readonly workspaces?: readonly string[] | undefined;
  readonly api_key_ids?: readonly string[] | undefined;
}

export interface VendorReading {
  readonly kind: VendorBillingKind;
  /** The provider with its network settings. */
  readonly provider: Provider;
  readonly adminKey: Secret;
  /** undefined: the vendor's own address. */
  readonly baseUrl: string | undefined;
  readonly account: BilledAccount;
  /** UTC midnights in Unix milliseconds; `to` is excluded. */
  readonly from: number;
  readonly to: number;
  readonly signal: AbortSignal;
}

const addresses = {
  openai: "https://api.openai.com",
  anthropic: "https://api.anthropic.com",
  openrouter: "https://openrouter.ai",
} as const;

/** Reads the bill of some days from the vendor's API. Throws upstream_error with the vendor's refusal; the key is redacted. */
export async function readVendorBill(client: ProviderClient, reading: VendorReading): Promise<readonly BillLine[]> {
  const pages = new VendorPages(client, reading);
  if (reading.kind === "openai") return await readOpenAI(pages, reading);
  if (reading.kind === "anthropic") {
    const lines: BillLine[] = [];
    for (let from = reading.from; from < reading.to; from += anthropicSpanMs) {
      const to = Math.min(from + anthropicSpanMs, reading.to);
      lines.push(...(await readAnthropic(pages, { ...reading, from, to })));
    }
    return lines;
  }
  return await readOpenRouter(pages, reading);
}

/** The longest range of Anthropic's analytics. */
const anthropicSpanMs = 31 * dayMs;

type Query = readonly (readonly [name: string, value: string])[];

const many = (name: string, values: readonly string[] = []): Query =>
  values.map((value) => [`${name}[]`, value] as const);

async function readOpenAI(pages: VendorPages, { account, from, to }: VendorReading): Promise<readonly BillLine[]> {
  const query: Query = [
    ["start_time", String(from / 1_000)],
    ["end_time", String(to / 1_000)],
    ["bucket_width", "1d"],
    ["limit", "31"],
    ...many("project_ids", account.projects),
    ...many("api_key_ids", account.api_key_ids),
  ];
  const buckets = async (path: string, groups: readonly string[], isOptional = false) =>
    await pages.all(`/v1/organization/${path}`, [...query, ...many("group_by", groups)], openaiPage, isOptional);
  const costs = openaiCosts((await buckets("costs", ["line_item"])) ?? []);
  const usage = openaiUsage((await buckets("usage/completions", ["model", "batch", "service_tier"])) ?? []);
  const more: BillLine[] = [];
  // An account without such usage may not have the endpoint.
  for (const kind of ["embeddings", "moderations", "decisions"]) {
    more.push(...openaiUsage((await buckets(`usage/${kind}`, ["model"], true)) ?? []));
  }
  return openaiBill(costs, [...usage, ...more]);
}

async function readAnthropic(pages: VendorPages, { account, from, to }: VendorReading): Promise<readonly BillLine[]> {
  const filters = [...many("workspace_ids", account.workspaces), ...many("api_key_ids", account.api_key_ids)];
  const time: Query = [
    ["starting_at", new Date(from).toISOString()],
    ["ending_at", new Date(to).toISOString()],
  ];
  const read = async (path: string, query: Query, isOptional: boolean) =>
    await pages.all(`/v1/organizations/${path}`, [...time, ...query, ...filters], anthropicPage, isOptional);
  const day: Query = [
    ["time_bucket_width", "1d"],
    ["limit", "1000"],
  ];
  const costs = await read("analytics/cost", [...day, ...many("group_by", ["model", "cost_type", "token_type"])], true);
  if (costs !== null) {
    const usage = await read(
      "analytics/usage",
      [...day, ...many("group_by", ["model", "service_tier", "speed"])],
      false,
    );
    return [...anthropicUsage(usage ?? []), ...anthropicCosts(costs)];
  }
  // Keys and accounts without analytics have the older reports. The one of costs has no filters, but names the workspace.
  if (account.api_key_ids !== undefined && account.api_key_ids.length > 0) {
    const reason = "Without access to analytics, Anthropic's costs cannot be filtered by API key.";
    throw new Failure("upstream_error", `${reason} Use a key with read:analytics, or account.workspaces.`);
  }
  const width: Query = [
    ["bucket_width", "1d"],
    ["limit", "31"],
  ];
  const groups = many("group_by", ["description", "workspace_id"]);
  const older = await pages.all("/v1/organizations/cost_report", [...time, ...width, ...groups], anthropicPage, false);
  const usage = await read("usage_report/messages", [...width, ...many("group_by", ["model", "service_tier"])], false);
  const { workspaces = [] } = account;
  const own = (older ?? []).filter(
    (row) => workspaces.length === 0 || workspaces.includes(textIn(row, "workspace_id") ?? ""),
  );
  return [...anthropicUsage(usage ?? []), ...anthropicCosts(own)];
}

async function readOpenRouter(pages: VendorPages, { account, from, to }: VendorReading): Promise<readonly BillLine[]> {
  const lines: BillLine[] = [];
  const keys = account.api_key_ids ?? [null];
  for (let at = from; at < to; at += dayMs) {
    for (const key of keys) {
      const query: Query = [["date", dayAt(at)], ...(key === null ? [] : [["api_key_hash", key] as const])];
      const answer = await pages.one("/api/v1/activity", query, false);
      lines.push(...openrouterBill(answer));
    }
  }
  return lines;
}

/** Bounds of one reading. */
const pagesMax = 500;
const pageBytesMax = 16 * 1024 * 1024;
const pageMs = 60_000;
const clocks = { connectMs: 10_000, headersMs: pageMs, totalMs: pageMs };

class VendorPages {
  readonly #client: ProviderClient;
  readonly #reading: VendorReading;
  /** The account of the admin key: a refusal is redacted by it. */
  readonly #account: Provider;
  #left = pagesMax;

  constructor(client: ProviderClient, reading: VendorReading) {
    this.#client = client;
    this.#reading = reading;
    const { kind, provider, adminKey, baseUrl = addresses[kind] } = reading;
    this.#account = { ...provider, baseUrl, secret: adminKey };
  }

  /** All rows. null: the endpoint is optional, and the account or key does not have it. */
  async all(
    path: string,
    query: Query,
    read: (answer: unknown) => ReportPage,
    isOptional: boolean,
  ): Promise<readonly ExactObject[] | null> {
    const rows: ExactObject[] = [];
    let pageQuery = query;
    for (let page: string | null = null; ; ) {
      const answer = await this.one(path, page === null ? pageQuery : [...pageQuery, ["page", page]], isOptional);
      if (answer === null) return null;
      if (answer === "page too large") {
        pageQuery = withHalfLimit(pageQuery);
        continue;
      }
      const { rows: found, next } = read(answer);
      rows.push(...found);
      if (next === null) return rows;
      page = next;
    }
  }

  /** The parsed answer. null: as in `all`. "page too large": it has to be requested with a lower limit. */
  async one(path: string, query: Query, isOptional: boolean): Promise<unknown> {
    if (this.#left-- === 0) throw new Failure("upstream_error", `The bill has more than ${pagesMax} pages.`);
    const url = `${this.#account.baseUrl.replace(/\/+$/, "")}${path}?${new URLSearchParams(query.map((pair) => [pair[0], pair[1]] as [string, string]))}`;
    const headers = { accept: "application/json", "user-agent": "sluice", ...this.#keyHeaders() };
    const draft = outboundDraft(this.#account, url, { headers });
    const signal = AbortSignal.any([this.#reading.signal, AbortSignal.timeout(pageMs)]);
    const sent = await this.#client.send(draft, clocks, signal);
    const answer = await this.#client.read(this.#account, sent, {
      bytesMax: pageBytesMax,
      limitMs: pageMs,
      clock: "total",
    });
    if (isOptional && (answer.status === 404 || answer.status === 403)) return null;
    if (!answer.good) {
      const refusal = refusalIn(answer);
      const code = textIn(objectOf(objectOf(refusal["error"])["details"]), "error_code");
      if (code === "report_page_too_large" && limitOf(query) > 1) return "page too large";
      throw failureOf(path, answer.status, refusal);
    }
    try {
      return parseExact(new TextDecoder().decode(answer.body));
    } catch {
      throw new Failure("upstream_error", `The vendor's answer to ${path} is not JSON.`);
    }
  }

  #keyHeaders(): Readonly<Record<string, string>> {
    const key = this.#reading.adminKey.reveal();
    if (this.#reading.kind !== "anthropic") return { authorization: `Bearer ${key}` };
    return { "x-api-key": key, "anthropic-version": "2023-06-01", "anthropic-beta": "analytics-usage-cost-2026-08-24" };
  }
}

const limitOf = (query: Query): number => Number(new Map(query).get("limit") ?? 0);

function withHalfLimit(query: Query): Query {
  const limit = String(Math.floor(limitOf(query) / 2));
  return query.map(([name, value]) => [name, name === "limit" ? limit : value] as const);
}

function refusalIn({ body }: WholeAnswer): ExactObject {
  try {
    return objectOf(JSON.parse(new TextDecoder().decode(body)));
  } catch {
    // A proxy answers with HTML.
    return {};
  }
}

const messageMax = 300;

function failureOf(path: string, status: number, refusal: ExactObject): Failure {
  const message = textIn(objectOf(refusal["error"]), "message") ?? textIn(refusal, "message") ?? "";
  const advice = status === 401 || status === 403 ? " Check the admin_key of the billing source and its rights." : "";
  const reason = message === "" ? "" : `: ${message.slice(0, messageMax)}`;
  return new Failure("upstream_error", `The vendor answered ${path} with status ${status}${reason}.${advice}`);
}
