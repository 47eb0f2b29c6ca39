import type { IndexedLedgerColumn, StoredLedgerColumns, UsageColumnName } from "@sluice/contract/words";
import type { Generated, Insertable, Selectable } from "kysely";
import type { Columns, UpstreamObject } from "#core/index.ts";
import type { InstanceStatus, LeaseStatus } from "#ports/index.ts";
import type { PeopleTables, SignInTables } from "./people-tables.ts";
import type { TaskTables } from "./task-tables.ts";

/**
 * The tables as this version of the program knows them. Times are Unix milliseconds, booleans 0 or 1, money whole
 * nano-USD; what is only ever read and written whole (patterns, limits, a price table) is JSON in a text column.
 */
export interface Tables extends TaskTables, SignInTables, PeopleTables {
  workspaces: {
    id: string;
    slug: string;
    name: string;
    models: string;
    /** Ids of providers that may be passed through to. */
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
    pass_through: string;
    limits: string;
    budget: string | null;
    managed_by: ManagedBy;
    created_at: number;
  };
  api_keys: {
    id: string;
    workspace_id: string;
    group_id: string;
    name: string;
    /** null: declared in the file, its secret not made yet. */
    digest: string | null;
    prefix: string;
    last_four: string;
    models: string | null;
    pass_through: string;
    allowed_ips: string | null;
    limits: string;
    budget: string | null;
    tags: string;
    enabled: number;
    /** For good: a key that was revoked is never opened again. */
    revoked_at: number | null;
    expires_at: number | null;
    managed_by: ManagedBy;
    created_at: number;
    /** User id; null: the file or the command line. */
    created_by: string | null;
    /** What of its requests is kept: `none`, `headers` or `bodies`. */
    capture: string;
    /** After a rotation the digest before still opens until `old_until`. */
    old_digest: string | null;
    old_until: number | null;
    /** The bounds that only admins widen, with commas between. */
    set_by_admins: string;
    /** User id, of the key that this person's sign-ins call with: it has no secret. It outlives its person, as entries of the ledger name it. */
    person_id: Generated<string | null>;
    /** User id, of a personal key: whose calls it makes. It outlives its person too. */
    owner_id: Generated<string | null>;
    /** A service token: it expires, and belongs to nobody. */
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
    /** Sealed whole: some kinds keep further secrets in their settings. */
    sealed_settings: string | null;
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
    /** Begins at its `effective_from`; from then on it counts instead. */
    next_price_version: string | null;
    /** While it has no price: `allow`, `block`, null: as the settings say. */
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
    /** JSON, as the file says it; null where it says nothing. */
    capabilities: string | null;
  };
  /** Immutable: a new price is a new row. Rows outlive their model, since ledger entries name them. */
  prices: {
    id: string;
    model: string;
    price_table: string;
    effective_from: number;
    /** `price_list`: taken from there. null: somebody set it. */
    origin: Generated<string | null>;
  };
  /**
   * One row per attempt: the columns that entries are found by, and `record`, the JSON of a journal record with all of it. `at` is when it
   * began; lists and hours go by it.
   */
  ledger_entries: Pick<StoredLedgerColumns, IndexedLedgerColumn> & { record: string };
  /** The view of the same rows with every column, as the contract's table of the ledger says it. */
  ledger: UsageColumns & Omit<StoredLedgerColumns, "cost_nano_usd"> & { record: string };
  usage_rollups: RollupTable;
  /**
   * Sums of a day (UTC), which begins at `hour`. `grain` says by which columns of scope they are summed; the others are empty. Nothing
   * of it counts but for the days that `summed_days` says are right.
   */
  usage_days: RollupTable & { grain: string };
  /** `touched`: how often rollups of the day were changed since it was first summed; `summed`: what that was before it was summed last. */
  summed_days: {
    day: number;
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
    /** null: of no workspace. */
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
  /** Attempts that processes have under way, as their journals hold them. `heard_at`: of its beginning or last checkpoint, by the database's clock. */
  open_attempts: {
    attempt_id: string;
    owner: string;
    heard_at: number;
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
  /** What vendors keep for later calls. `input_tokens` null: not known. `expires_at` null: kept until it is deleted. */
  upstream_objects: Columns<UpstreamObject>;
  /** Why a request went as it did. `explanation` is JSON. */
  request_explanations: {
    request_id: string;
    workspace_id: string;
    at: number;
    explanation: string;
  };
  /** What was kept of a request because its key said so. Headers are JSON; a body that was not to be kept is null. */
  request_captures: {
    request_id: string;
    workspace_id: string;
    key_id: string;
    at: number;
    expires_at: number;
    request_headers: string;
    response_headers: string;
    request_body: string | null;
    request_bytes: number | null;
    response_body: string | null;
    response_bytes: number | null;
    truncated: number;
  };
  /** What processes share; times are the database clock's, see `databaseNow`. A row stays after its release, so that its fence goes on growing. `owner` null: released. */
  leases: Columns<Omit<LeaseStatus, "owner" | "leftMs">> & { owner: string | null };
  instances: Columns<Omit<InstanceStatus, "isAlive">>;
  /** A window of tries, by the digest of what is tried and with which key. */
  tries: {
    name: string;
    count: number;
    /** 1: nothing more may be tried in it. */
    used_up: number;
    length_ms: number;
    ends_at: number;
  };
  notices: {
    id: string;
    workspace_id: string;
    name: string;
    /** JSON: a list of whole numbers. */
    percent: string;
    scope: string | null;
    scope_id: string | null;
    /** Sealed: the address of a chat's webhook opens by itself. */
    sealed_channel: string;
    enabled: number;
    created_at: number;
  };
  /** `due_at` null: sent, or given up. */
  notices_told: {
    notice_id: string;
    /** `key key_… day`: which budget. */
    budget: string;
    period_start: number;
    percent: number;
    label: string;
    used_usd: number;
    limit_usd: number;
    at: number;
    tries: number;
    due_at: number | null;
    sent_at: number | null;
    problem: string | null;
  };
}

/** `suspended`: the config file no longer declares it. It keeps its id and everything that belongs to it, and cannot be used. */
export type ManagedBy = "file" | "console" | "suspended";

type UsageColumns = { [Column in UsageColumnName]: number } & { cost_nano_usd: number };

/** `hour` is the Unix millisecond its hour (UTC) begins. `requests` counts first attempts, `attempts` all. */
interface RollupTable extends UsageColumns, Record<LatencyColumn, string> {
  hour: number;
  workspace_id: string;
  group_id: string;
  key_id: string;
  model: string;
  provider: string;
  attempts: number;
  requests: number;
  succeeded: number;
  /** Ended by the caller. */
  cancelled: number;
  /** What vendors say that their calls cost; and what these same calls cost by our prices. */
  vendor_cost_nano_usd: number;
  compared_cost_nano_usd: number;
  /** Whose calls they were; null: nobody's; `*`: several people's, as the key changed hands within the hour. */
  person_id: Generated<string | null>;
}

export type Row<Name extends keyof Tables> = Selectable<Tables[Name]>;
export type NewRow<Name extends keyof Tables> = Insertable<Tables[Name]>;

/** Sketches of durations in milliseconds, see `latency-sketch.ts`: of whole calls as their callers saw them, and of attempts. */
export type LatencyColumn = `${"call" | "attempt"}_${"ms" | "first_token_ms"}_sketch`;
