import type { IndexedLedgerColumn, StoredLedgerColumns, UsageColumnName } from "@sluice/contract/words";
import type { Generated, Insertable, Selectable } from "kysely";
import type { Columns, GuardrailCheckEntry, GuardrailHour, UpstreamObject } from "#core/index.ts";
import type { InstanceStatus, LeaseStatus } from "#ports/index.ts";
import type { AlertTables } from "./alert-tables.ts";
import type { BatchTables } from "./batch-tables.ts";
import type { BillTables } from "./bill-tables.ts";
import type { FileTables } from "./file-tables.ts";
import type { PeopleTables, SignInTables } from "./people-tables.ts";
import type { RehearsalTables } from "./rehearsal-tables.ts";
import type { TaskTables } from "./task-tables.ts";

/**
 * The tables of this version. Times are Unix milliseconds, booleans 0 or 1, money whole nano-USD. Values that are only read and written
 * as a whole (patterns, limits, price tables) are JSON in a text column.
 */
export interface Tables
  extends TaskTables,
    BatchTables,
    BillTables,
    FileTables,
    SignInTables,
    PeopleTables,
    AlertTables,
    RehearsalTables {
  workspaces: {
    id: string;
    slug: string;
    name: string;
    models: string;
    /** 0: shadow mode. */
    enforce_models: Generated<number>;
    /** Ids of providers with pass-through access. */
    pass_through: string;
    limits: string;
    budget: string | null;
    enabled: number;
    managed_by: ManagedBy;
    created_at: number;
  };
  groups: {
    id: string;
    workspace_id: string;
    name: string;
    models: string;
    enforce_models: Generated<number>;
    pass_through: string;
    limits: string;
    budget: string | null;
    managed_by: ManagedBy;
    created_at: number;
  };
  /** Imports from other gateways. `objects`: the created objects, with checksums. */
  imports: {
    id: string;
    product: string;
    at: number;
    actor: string;
    objects: string;
    undone_at: number | null;
  };
  api_keys: {
    id: string;
    workspace_id: string;
    group_id: string;
    name: string;
    /** null: declared in the config file, and its secret is not created yet. */
    digest: string | null;
    prefix: string;
    last_four: string;
    models: string | null;
    enforce_models: Generated<number>;
    pass_through: string;
    allowed_ips: string | null;
    enforce_allowed_ips: Generated<number>;
    limits: string;
    budget: string | null;
    tags: string;
    enabled: number;
    /** Permanent: a revoked key is never valid again. */
    revoked_at: number | null;
    expires_at: number | null;
    managed_by: ManagedBy;
    created_at: number;
    /** User id; null: created by the config file or on the command line. */
    created_by: string | null;
    /** Which parts of its requests are captured: `none`, `headers` or `bodies`. */
    capture: string;
    /** After a rotation, the previous digest is accepted until `old_until`. */
    old_digest: string | null;
    old_until: number | null;
    /** Bounds that only admins may widen, separated by commas. */
    set_by_admins: string;
    /**
     * Sign-in keys only, which have no secret: the id of the user whose agents call with this key. The key is kept when the user is
     * deleted, because ledger entries refer to it.
     */
    person_id: Generated<string | null>;
    /** Personal keys only: the user id of the owner, who may have been deleted. */
    owner_id: Generated<string | null>;
    /** 1: a service token, which expires and has no owner. */
    service: number;
  };
  providers: {
    id: string;
    kind: string;
    base_url: string;
    sealed_secret: string | null;
    allow_private_network: number;
    timeouts: string;
    disconnect: string | null;
    /** Sealed as a whole, because the settings of some provider types contain secrets. */
    sealed_settings: string | null;
    /** The source of bills with its key; null: none. */
    sealed_billing: string | null;
    enabled: number;
    managed_by: ManagedBy;
    created_at: number;
  };
  models: {
    name: string;
    type: string;
    owned_by: string;
    fallbacks: string;
    max_output_tokens: number | null;
    context_window: number | null;
    price_version: string | null;
    /** Replaces `price_version` from its `effective_from` on. */
    next_price_version: string | null;
    /** The handling of calls while the model has no price: `allow` or `block`; null: according to the settings. */
    unpriced: string | null;
    managed_by: ManagedBy;
    created_at: number;
  };
  deployments: {
    id: string;
    model: string;
    provider: string;
    upstream_model: string;
    priority: number;
    weight: number;
    enabled: number;
    /** JSON from the config file; null: not set there. */
    capabilities: string | null;
  };
  /** `workspace_id` null: the installation. */
  budget_policies: {
    id: string;
    workspace_id: string | null;
    name: string;
    /** JSON: the budget, the calls that it counts, and what it is split by. */
    definition: string;
    enabled: number;
    managed_by: ManagedBy;
    created_at: number;
  };
  /** `workspace_id` null: the installation. */
  guardrails: {
    id: string;
    workspace_id: string | null;
    name: string;
    /** The kind of its check. */
    kind: string;
    /** JSON: everything that a guardrail does, without the secret of its webhook. */
    definition: string;
    sealed_secret: string | null;
    enabled: number;
    managed_by: ManagedBy;
    created_at: number;
  };
  /** Checks of guardrails that found something or failed. `counts` and `paths` are JSON. Never contains the text that was found. */
  guardrail_checks: Omit<Columns<GuardrailCheckEntry, "counts" | "paths">, "enforced"> & { enforced: number };
  /** Number of all checks of guardrails by hour, by verdict. `source`: the process that counted them. */
  guardrail_hours: Omit<Columns<GuardrailHour>, "enforced"> & { enforced: number };
  /** Immutable: a new price is a new row. Rows outlive their model, since ledger entries name them. */
  prices: {
    id: string;
    model: string;
    price_table: string;
    effective_from: number;
    /** `price_list`: copied from there. null: set by an administrator. */
    origin: Generated<string | null>;
  };
  /**
   * One row per attempt: the queried columns, and `record`, the complete journal record as JSON. `at` is the start of the attempt, which
   * decides its order in lists and its hour.
   */
  ledger_entries: Pick<StoredLedgerColumns, IndexedLedgerColumn> & { record: string };
  /** A view of the same rows with every column of `ledgerTable`. */
  ledger: UsageColumns & Omit<StoredLedgerColumns, "cost_nano_usd"> & { record: string };
  /** Sums of the entries of each session; see `session-sums.ts`. `models` is a JSON list of names. */
  sessions: {
    key_id: string;
    session: string;
    workspace_id: string;
    group_id: string;
    person_id: string | null;
    source: string;
    agent: string;
    models: string;
    first_at: number;
    last_at: number;
    requests: number;
    turns: number;
    errors: number;
    input_tokens: number;
    cache_read_tokens: number;
    cache_write_tokens: number;
    output_tokens: number;
    cost_nano_usd: number;
    /** 1: lists show it. */
    listed: number;
  };
  usage_rollups: RollupTable;
  /**
   * Sums of a day (UTC) that begins at `hour`. `grain` names the scope columns that they are grouped by; the others are empty. Valid only
   * for the days that `summed_days` lists as current.
   */
  usage_days: RollupTable & { grain: string };
  /** As `usage_days`, for each hour. */
  usage_hours: RollupTable & { grain: string };
  /** `touched` counts changes of the day's rollups since it was first summed; `summed` is that count at the last summing. */
  summed_days: {
    day: number;
    touched: number;
    summed: number;
    summed_at: number;
  };
  summed_hours: {
    hour: number;
    touched: number;
    summed: number;
    summed_at: number;
  };
  /** `before` and `after` are JSON without any secret. */
  audit_log: {
    seq: Generated<number>;
    at: number;
    actor: string;
    action: string;
    object: string;
    before: string | null;
    after: string | null;
    ip: string | null;
    /** null: the action belongs to no workspace. */
    workspace_id: string | null;
  };
  changes: {
    seq: Generated<number>;
    at: number;
    kind: string;
    digest: string | null;
  };
  settings: {
    name: string;
    value: string;
    managed_by: ManagedBy | "system";
  };
  /**
   * Running attempts, as in the journals of their processes. `updated_at`: time of the start or the last checkpoint, by the database's
   * clock.
   */
  open_attempts: {
    attempt_id: string;
    owner: string;
    updated_at: number;
    intent: string;
    checkpoint: string | null;
  };
  /** Hours of the ledger that were copied to a bucket. `checked_at`: when their entries were last compared with the copy's. */
  exported_hours: {
    destination: string;
    hour: number;
    entries: number;
    checked_at: number;
  };
  /** Days (UTC) with final FOCUS rows. `seq`: the order in which they were closed. `run`: the parts that count. */
  focus_days: {
    day: number;
    seq: number;
    run: string;
    closed_at: number;
    digest: string;
  };
  /**
   * FOCUS rows of one workspace. `charge_day`: the day of their entries, earlier than `day` for late ones. `csv` and `sums` are gzipped, in
   * base64: CSV lines, and the sums that they were made of as JSON lines.
   */
  focus_parts: {
    day: number;
    run: string;
    seq: number;
    charge_day: number;
    workspace_id: string;
    row_count: number;
    attempts: number;
    cost_nano_usd: number;
    digest: string;
    csv: string;
    sums: string;
  };
  /** `touched`: as in `summed_days`, when the day was last searched for late entries. */
  focus_checks: { day: number; touched: number };
  /** Objects that vendors store for later calls. `input_tokens` null: unknown. `expires_at` null: stored until deleted. */
  upstream_objects: Columns<UpstreamObject>;
  /** Explanations of requests: routing, prices and refusals. `explanation` is JSON. */
  request_explanations: {
    request_id: string;
    workspace_id: string;
    at: number;
    explanation: string;
  };
  /** Refused requests that share the ledger entry of the request `counted_in`. `record`: as in the ledger. */
  folded_requests: {
    request_id: string;
    workspace_id: string;
    at: number;
    counted_in: string;
    record: string;
  };
  /** Captured requests, according to the settings of their keys. Headers are JSON; a body that is not captured is null. */
  request_captures: {
    request_id: string;
    workspace_id: string;
    key_id: string;
    at: number;
    expires_at: number;
    /** JSON, see `captured-tools.ts`. null: bodies are not captured. */
    tools: string | null;
    request_headers: string;
    response_headers: string;
    request_body: string | null;
    request_bytes: number | null;
    response_body: string | null;
    response_bytes: number | null;
    truncated: number;
  };
  /**
   * Times are read from the database's clock, see `databaseNow`. A row remains after its release, so that its fence continues to grow.
   * `owner` null: released.
   */
  leases: Columns<Omit<LeaseStatus, "owner" | "leftMs">> & { owner: string | null };
  instances: Columns<Omit<InstanceStatus, "isAlive">>;
  /** A time window of counted attempts. `name`: the digest of the kind of attempt and its key. */
  tries: {
    name: string;
    count: number;
    /** 1: no more attempts are allowed in this window. */
    used_up: number;
    length_ms: number;
    ends_at: number;
  };
  playground_shares: {
    id: string;
    workspace_id: string;
    owner_id: string;
    /** JSON: a list of names. */
    models: string;
    /** JSON: `PlaygroundSession`, with masked secrets. */
    session: string;
    created_at: number;
    expires_at: number;
  };
  /** `workspace_id` null: of all workspaces. `state`: query parameters of the page. */
  saved_views: {
    id: string;
    owner_id: string;
    workspace_id: string | null;
    page: "usage";
    name: string;
    state: string;
    shared: number;
    created_at: number;
    updated_at: number;
  };
}

/** `suspended`: the config file no longer declares it. It keeps its id and everything that belongs to it, and cannot be used. */
export type ManagedBy = "file" | "console" | "suspended";

type UsageColumns = { [Column in UsageColumnName]: number } & { cost_nano_usd: number };

/** `hour` is the start of the hour (UTC) in Unix milliseconds. `requests` counts first attempts, `attempts` all. */
interface RollupTable extends UsageColumns, Record<LatencyColumn, string> {
  hour: number;
  workspace_id: string;
  group_id: string;
  key_id: string;
  /** User id; empty: none. */
  person_id: Generated<string>;
  model: string;
  provider: string;
  /** Its family, see `userAgentFamily`; empty: the client sent none. */
  user_agent: Generated<string>;
  endpoint: Generated<string>;
  /** JSON object in the order of names; empty: no tags. Bounded, see `boundedTags`. */
  tags: Generated<string>;
  attempts: number;
  requests: number;
  succeeded: number;
  /** Canceled by the caller. */
  cancelled: number;
  /** Costs reported by vendors, and the costs of the same calls at our prices. */
  vendor_cost_nano_usd: number;
  compared_cost_nano_usd: number;
  /** Savings of upstreams' caches; may be negative. */
  cache_saved_nano_usd: number;
}

export type Row<Name extends keyof Tables> = Selectable<Tables[Name]>;
export type NewRow<Name extends keyof Tables> = Insertable<Tables[Name]>;

/** Sketches of durations in milliseconds, see `latency-sketch.ts`: of whole calls as their callers saw them, and of attempts. */
export type LatencyColumn = `${"call" | "attempt"}_${"ms" | "first_token_ms"}_sketch`;
