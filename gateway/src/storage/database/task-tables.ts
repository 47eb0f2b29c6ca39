import type { Generated } from "kysely";
import type { Asset, AssetBinding, AssetGroup, Columns, Task, TaskEvent, WebhookDelivery } from "#core/index.ts";

type JsonMember = "params" | "output" | "error" | "usage" | "priceTable" | "metadata" | "tags";
type OptionalMember =
  | "personId"
  | "actorId"
  | "servedModel"
  | "warnings"
  | "deletedAt"
  | "placeAt"
  | "goneSince"
  | "unansweredSince";

/** The tables of video tasks and of assets; see `schema.ts` for the formats of values. */
export interface TaskTables {
  tasks: Columns<Omit<Task, "kind" | "request" | "account" | OptionalMember>, JsonMember> & {
    /** `video`, or `response`: a background response. */
    kind: string;
    person_id: Generated<string | null>;
    actor_id: Generated<string | null>;
    served_model: Generated<string | null>;
    warnings: Generated<string | null>;
    /** The provider of the sealed account, for finding a task by the upstream's id. */
    provider_id: string | null;
    sealed_account: string | null;
    /** 1 if the state is final. */
    final: number;
    /** Also inside `output`. As a column, it shows whether a blob is still in use before it is removed. */
    blob_hash: string | null;
    /** The token of the pass that works on the task, and the end of its lease. */
    lease: string | null;
    leased_until: number | null;
    /** null: not deleted. The request and the result of a deleted task are removed. */
    deleted_at: number | null;
    place_at: number | null;
    gone_since: number | null;
    unanswered_since: number | null;
  };
  /**
   * The request of a task. It has a separate table, because the task's row is rewritten with every poll. Large material of a request is
   * stored as blobs. For a background response, the request is the open ledger entry of its attempt.
   */
  task_requests: {
    task_id: string;
    request: string;
  };
  /** Inserted before the bytes are stored, so that no blob is without a row. The task's own row follows. */
  task_materials: {
    task_id: string;
    hash: string;
    size_bytes: number;
    created_at: number;
    /** 1 while it is being removed: no task may use it. */
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
    /** The time after the last reserved poll. */
    row_ends_at: number;
    /** The time of the next allowed poll. */
    free_at: number;
    /** The time that the last statement reserved. */
    given_at: number;
  };
  asset_groups: Columns<AssetGroup>;
  assets: Columns<Asset, "error">;
  asset_bindings: Columns<AssetBinding>;
}
