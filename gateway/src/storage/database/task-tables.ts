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
    /** The provider of the sealed account, for finding a task by the upstream's id. */
    provider_id: string | null;
    sealed_account: string | null;
    /** 1 once the state cannot change any more. */
    final: number;
    /** Also inside `output`: who removes bytes asks who still uses them. */
    blob_hash: string | null;
    /** The token of the pass that works on it, and the end of its lease. */
    lease: string | null;
    leased_until: number | null;
    /** null: not deleted. A deleted task has neither its request nor its result. */
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
  /** The poll rate of an account, shared by all processes; see `reservePoll`. */
  account_polls: {
    account: string;
    /** Behind the last place that was given. */
    row_ends_at: number;
    /** The time of the next allowed poll. */
    free_at: number;
    /** What the last statement gave. */
    given_at: number;
  };
  asset_groups: Columns<AssetGroup>;
  assets: Columns<Asset, "error">;
  asset_bindings: Columns<AssetBinding>;
}
