import type { Generated } from "kysely";

/** The tables of video tasks and of assets; see `schema.ts` for how values are kept in them. */
export interface TaskTables {
  tasks: {
    id: string;
    /** `video`, or `response`: a response that its upstream makes in the background. */
    kind: string;
    workspace_id: string;
    group_id: string;
    key_id: string;
    person_id: Generated<string | null>;
    request_id: string;
    model: string;
    deployment: string;
    upstream_model: string;
    served_model: Generated<string | null>;
    /** Of the account, so that an upstream's id can be looked for; the account itself is sealed. */
    provider_id: string | null;
    sealed_account: string | null;
    upstream_id: string | null;
    attempt_id: string;
    state: string;
    /** 1 once the state cannot change any more. */
    final: number;
    progress: number | null;
    asked: string;
    output: string | null;
    /** Also inside `output`: who removes bytes asks who still uses them. */
    blob_hash: string | null;
    error: string | null;
    usage: string | null;
    raw_usage: string | null;
    cost_nano_usd: number | null;
    reserved_nano_usd: number;
    price_version: string | null;
    price_table: string | null;
    idempotency_key: string | null;
    request_digest: string;
    callback_url: string | null;
    metadata: string;
    user_agent: string;
    tags: string;
    created_at: number;
    updated_at: number;
    submitted_at: number | null;
    started_at: number | null;
    finished_at: number | null;
    deadline_at: number;
    due_at: number | null;
    polls: number;
    /** The token of the pass that works on it, and how long nobody else may take it. */
    lease: string | null;
    leased_until: number | null;
    /** Null while it is shown. What stays of a deleted one says nothing of what was asked for or made. */
    deleted_at: number | null;
    /** When its next poll has a place in its account's row; since when the vendor has said that there is no such task. */
    place_at: number | null;
    gone_since: number | null;
    /** Since when, after its deadline, the vendor has not answered. */
    unanswered_since: number | null;
  };
  /**
   * Apart from its task, because a row is written anew with every poll. The larger material of a body is a blob. Of a background response
   * it is the open ledger entry of its attempt.
   */
  task_requests: {
    task_id: string;
    request: string;
  };
  /** Noted before the bytes are stored, so that none is without a row; the task's own row follows. */
  task_materials: {
    task_id: string;
    hash: string;
    size_bytes: number;
    created_at: number;
    /** 1 once it is being removed: no task can have it any more. */
    spent: number;
  };
  task_events: {
    task_id: string;
    /** 0, 1, 2 … within a task. */
    position: number;
    at: number;
    state: string;
    detail: string;
  };
  webhook_deliveries: {
    id: string;
    task_id: string;
    workspace_id: string;
    url: string;
    body: string;
    tries: number;
    due_at: number | null;
    created_at: number;
    last_status: number | null;
    last_error: string | null;
    delivered_at: number | null;
  };
  /** How often an account of a vendor is asked about tasks, by all processes together; see `takePoll`. */
  account_polls: {
    account: string;
    /** Behind the last place that was given. */
    row_ends_at: number;
    /** Nobody polls before. */
    free_at: number;
    /** What the last statement gave. */
    given_at: number;
  };
  asset_groups: {
    id: string;
    workspace_id: string;
    platform: string;
    name: string;
    description: string;
    project_name: string;
    provider_id: string | null;
    upstream_id: string | null;
    created_at: number;
    updated_at: number;
  };
  assets: {
    id: string;
    workspace_id: string;
    group_id: string;
    platform: string;
    name: string;
    type: string;
    source_url: string;
    status: string;
    error: string | null;
    provider_id: string | null;
    upstream_id: string | null;
    blob_hash: string | null;
    size_bytes: number | null;
    content_type: string | null;
    created_at: number;
    updated_at: number;
    due_at: number | null;
  };
  asset_bindings: {
    asset_id: string;
    provider_id: string;
    upstream_group_id: string;
    upstream_id: string;
    status: string;
    updated_at: number;
  };
}
