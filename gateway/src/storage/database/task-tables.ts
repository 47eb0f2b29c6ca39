import type { Generated } from "kysely";
import type { Asset, AssetBinding, AssetGroup, Columns, Task, TaskEvent, WebhookDelivery } from "#core/index.ts";

type JsonMember = "asked" | "output" | "error" | "usage" | "priceTable" | "metadata" | "tags";
type OptionalMember = "personId" | "servedModel" | "deletedAt" | "placeAt" | "goneSince" | "unansweredSince";

/** The tables of video tasks and of assets; see `schema.ts` for how values are kept in them. */
export interface TaskTables {
  tasks: Columns<Omit<Task, "kind" | "request" | "account" | OptionalMember>, JsonMember> & {
    /** `video`, or `response`: a response that its upstream makes in the background. */
    kind: string;
    person_id: Generated<string | null>;
    served_model: Generated<string | null>;
    /** Of the account, so that an upstream's id can be looked for; the account itself is sealed. */
    provider_id: string | null;
    sealed_account: string | null;
    /** 1 once the state cannot change any more. */
    final: number;
    /** Also inside `output`: who removes bytes asks who still uses them. */
    blob_hash: string | null;
    /** The token of the pass that works on it, and how long nobody else may take it. */
    lease: string | null;
    leased_until: number | null;
    /** Null while it is shown. What stays of a deleted one says nothing of what was asked for or made. */
    deleted_at: number | null;
    place_at: number | null;
    gone_since: number | null;
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
  task_events: Columns<TaskEvent> & {
    /** 0, 1, 2 … within a task. */
    position: number;
  };
  webhook_deliveries: Columns<WebhookDelivery>;
  /** How often an account of a vendor is asked about tasks, by all processes together; see `reservePoll`. */
  account_polls: {
    account: string;
    /** Behind the last place that was given. */
    row_ends_at: number;
    /** Nobody polls before. */
    free_at: number;
    /** What the last statement gave. */
    given_at: number;
  };
  asset_groups: Columns<AssetGroup>;
  assets: Columns<Asset, "error">;
  asset_bindings: Columns<AssetBinding>;
}
