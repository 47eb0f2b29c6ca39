import { type ExpressionBuilder, type SelectQueryBuilder, sql } from "kysely";
import {
  bounds,
  finalTaskStates,
  Secret,
  type Task,
  type TaskAccount,
  type TaskEvent,
  type TaskState,
} from "#core/index.ts";
import type { Vault } from "#ports/index.ts";
import {
  accountSealId,
  type Connection,
  columnsOf,
  cursorOf,
  cutPage,
  type Database,
  isBehind,
  membersOf,
  type NewRow,
  type Place,
  pageSize,
  placeOf,
  type Row,
  type Tables,
} from "#storage/tables.ts";

export type TaskRow = Row<"tasks">;

/** What may change in a step. `detail` goes into the task's history when the state changes. */
export type TaskStep = Partial<
  Pick<
    Task,
    | "state"
    | "progress"
    | "upstreamId"
    | "account"
    | "deployment"
    | "upstreamModel"
    | "servedModel"
    | "priceVersion"
    | "priceTable"
    | "output"
    | "error"
    | "usage"
    | "rawUsage"
    | "costNanoUsd"
    | "submittedAt"
    | "startedAt"
    | "finishedAt"
    | "dueAt"
    | "polls"
    | "placeAt"
    | "goneSince"
    | "unansweredSince"
  >
> & { readonly detail?: string };

/** Those that a task is read from. Named one by one: a later version may have added others. */
export const taskColumns = [
  "id",
  "kind",
  "workspace_id",
  "group_id",
  "key_id",
  "person_id",
  "request_id",
  "model",
  "deployment",
  "upstream_model",
  "sealed_account",
  "upstream_id",
  "attempt_id",
  "state",
  "progress",
  "asked",
  "output",
  "error",
  "usage",
  "raw_usage",
  "cost_nano_usd",
  "reserved_nano_usd",
  "served_model",
  "price_version",
  "price_table",
  "idempotency_key",
  "request_digest",
  "callback_url",
  "metadata",
  "user_agent",
  "tags",
  "created_at",
  "updated_at",
  "submitted_at",
  "started_at",
  "finished_at",
  "deadline_at",
  "due_at",
  "polls",
  "deleted_at",
  "place_at",
  "gone_since",
  "unanswered_since",
] as const;

const jsonMembers = ["asked", "output", "error", "usage", "priceTable", "metadata", "tags"] as const;
type ReadRow = Pick<TaskRow, (typeof taskColumns)[number]>;

const optionalMembers = ["personId", "servedModel", "deletedAt", "placeAt", "goneSince", "unansweredSince"] as const;

/** The row of a task as it is accepted: nobody has it under a lease. `request` stands in a table of its own. */
export function newTaskRow({ account, request: _, ...task }: Task, vault: Vault): NewRow<"tasks"> {
  return {
    ...columnsOf(task, jsonMembers),
    ...accountColumns(task.id, account, vault),
    kind: task.kind ?? "video",
    blob_hash: task.output?.blobHash ?? null,
    final: finalTaskStates.has(task.state) ? 1 : 0,
  };
}

/** The columns that a step changes: those it names, and no other. */
export function stepColumns(id: string, { account, detail: _, ...step }: TaskStep, vault: Vault): Partial<TaskRow> {
  return {
    ...columnsOf(step, jsonMembers),
    ...(account === undefined ? {} : accountColumns(id, account, vault)),
    ...(step.output === undefined ? {} : outputColumns(step.output)),
  };
}

export function outputColumns(output: Task["output"]): Pick<TaskRow, "output" | "blob_hash"> {
  return { output: output === null ? null : JSON.stringify(output), blob_hash: output?.blobHash ?? null };
}

/** Sealed whole, since some kinds keep further secrets in their settings; only the provider's name stays readable. */
function accountColumns(
  id: string,
  account: TaskAccount | null,
  vault: Vault,
): Pick<TaskRow, "provider_id" | "sealed_account"> {
  if (account === null) return { provider_id: null, sealed_account: null };
  const sealed = vault.seal(new Secret(JSON.stringify(account)), accountSealId(id));
  return { provider_id: account.providerId, sealed_account: sealed };
}

function taskOf(row: ReadRow, request: string, vault: Vault): Task {
  const { kind, sealed_account, ...columns } = row;
  const account = sealed_account === null ? null : vault.open(sealed_account, accountSealId(row.id)).reveal();
  return {
    ...membersOf(columns, jsonMembers, optionalMembers),
    ...(kind === "response" ? { kind } : {}),
    account: account === null ? null : JSON.parse(account),
    request,
  };
}

export function wholeTask(row: ReadRow & { readonly request: string | null }, vault: Vault): Task {
  const { request, ...columns } = row;
  return taskOf(columns, request ?? "", vault);
}

/** The caller's body beside the columns of its task. */
export function requestOfTask(eb: ExpressionBuilder<Tables, "tasks">) {
  return eb
    .selectFrom("task_requests")
    .select("task_requests.request")
    .whereRef("task_requests.task_id", "=", "tasks.id")
    .as("request");
}

function wholeTasks(connection: Connection) {
  return connection.selectFrom("tasks").select(taskColumns).select(requestOfTask);
}

export async function findByKey(connection: Connection, vault: Vault, workspaceId: string, idempotencyKey: string) {
  const row = await wholeTasks(connection)
    .where("workspace_id", "=", workspaceId)
    .where("idempotency_key", "=", idempotencyKey)
    .executeTakeFirst();
  return row === undefined ? null : wholeTask(row, vault);
}

/** What the store reads of tasks without taking them. */
export function taskReads({ kysely }: Database, vault: Vault) {
  return {
    /** A video. */
    async find(workspaceId: string, id: string): Promise<Task | null> {
      const row = await wholeTasks(kysely)
        .where("id", "=", id)
        .where("workspace_id", "=", workspaceId)
        .where("kind", "=", "video")
        .where("deleted_at", "is", null)
        .executeTakeFirst();
      return row === undefined ? null : wholeTask(row, vault);
    },
    /** For callbacks, which do not name a workspace. Also finds a deleted task, and those of other kinds. */
    async findById(id: string): Promise<Task | null> {
      const row = await wholeTasks(kysely).where("id", "=", id).executeTakeFirst();
      return row === undefined ? null : wholeTask(row, vault);
    },
    /** The task that a workspace has under an idempotency key. Also one that was deleted. */
    findByKey: (workspaceId: string, key: string): Promise<Task | null> => findByKey(kysely, vault, workspaceId, key),
    async events(taskId: string): Promise<readonly TaskEvent[]> {
      return await kysely
        .selectFrom("task_events")
        .select(["task_id as taskId", "at", "state", "detail"])
        .where("task_id", "=", taskId)
        .orderBy("position")
        .execute();
    },
    /**
     * The page of videos after a cursor, or after a task, newest first unless told. Their requests are left out: a thousand
     * bodies could be gigabytes.
     */
    async page(filter: TaskFilter, cursor: string | TaskPlace | null, limit: number): Promise<TaskPage> {
      const size = pageSize(limit);
      const after = typeof cursor === "string" ? placeOf(cursor) : cursor && { at: cursor.createdAt, id: cursor.id };
      if (filter.states?.length === 0) return { tasks: [], next: null };
      // One more than asked for tells whether there is a following page.
      const rows = await firstOf(kysely, filter, after, size + 1).execute();
      const { page, next } = cutPage(rows, size, (last) => cursorOf({ at: last.created_at, id: last.id }));
      return { tasks: page.map((row) => taskOf(row, "", vault)), next };
    },
    /** The tasks that are not final, and what each reserves, in pages. For rebuilding the reservations after a restart. */
    async *open() {
      for (let after = ""; ; ) {
        const rows = await kysely
          .selectFrom("tasks")
          .select(["id", "workspace_id", "group_id", "key_id", "person_id", "reserved_nano_usd"])
          .where("final", "=", sql.lit(0))
          .where("id", ">", after)
          .orderBy("id")
          .limit(bounds.listPageMax)
          .execute();
        for (const row of rows) yield membersOf(row, [], ["personId"]);
        const last = rows.at(-1);
        if (last === undefined || rows.length < bounds.listPageMax) return;
        after = last.id;
      }
    },
    /**
     * Background responses that have not ended, and when the oldest of them was made (Unix milliseconds; null: there is none).
     * From the partial index of open tasks alone.
     */
    async openResponses(): Promise<{ readonly count: number; readonly oldestAt: number | null }> {
      const row = await kysely
        .selectFrom("tasks")
        .select(({ fn }) => [fn.countAll<number>().as("count"), fn.min<number | null>("created_at").as("oldest")])
        .where("kind", "=", sql.lit("response"))
        .where("final", "=", sql.lit(0))
        .executeTakeFirstOrThrow();
      return { count: Number(row.count), oldestAt: row.oldest === null ? null : Number(row.oldest) };
    },
    /** Which tasks, of any workspace, have one of these upstream ids. For matching a vendor's list with our tasks. */
    async withUpstreamIds(upstreamIds: readonly string[]): Promise<readonly UpstreamIdOwner[]> {
      const owners: UpstreamIdOwner[] = [];
      const wanted = [...new Set(upstreamIds)];
      for (let start = 0; start < wanted.length; start += idsAtOnce) {
        const some = wanted.slice(start, start + idsAtOnce);
        // Always as many, the last one repeated: one statement serves every list.
        const asked = Array.from({ length: idsAtOnce }, (_, index) => some[index] ?? some.at(-1) ?? "");
        const rows = await kysely
          .selectFrom("tasks")
          .select(["id as taskId", "upstream_id", "provider_id as providerId"])
          .where("upstream_id", "in", asked)
          .execute();
        owners.push(...rows.map(({ upstream_id, ...row }) => ({ ...row, upstreamId: upstream_id ?? "" })));
      }
      return owners;
    },
  };
}

interface UpstreamIdOwner {
  readonly taskId: string;
  readonly upstreamId: string;
  readonly providerId: string | null;
}

const idsAtOnce = 64;

export interface TaskFilter {
  /** null: every workspace; only for callers that may see all of them. */
  readonly workspaceId: string | null;
  readonly keyId?: string;
  readonly model?: string;
  readonly states?: readonly TaskState[];
  /** Only this person's, and those that are no one person's. */
  readonly seenPerson?: string;
  /** Oldest first instead of newest first. For one workspace only. */
  readonly oldestFirst?: boolean;
}

/** The position of a task in the list of its workspace. */
export type TaskPlace = Pick<Task, "id" | "createdAt">;

/** `next` is the cursor of the following page, null at the end. */
export interface TaskPage {
  readonly tasks: readonly Task[];
  readonly next: string | null;
}

type Rows = SelectQueryBuilder<Tables, "tasks", ReadRow>;

/**
 * Each state is read by itself, in the order of its index, and the first of all are kept: asked for several at once, the
 * database would sort every task that has one of them.
 */
function firstOf(connection: Connection, filter: TaskFilter, after: Place | null, size: number) {
  if (filter.workspaceId === null) return ofEveryWorkspace(connection, filter, after).limit(size);
  const states = [...new Set(filter.states ?? [])];
  const [first, ...more] = states.map((state) => matching(connection, filter, after, state).limit(size));
  if (first === undefined) return matching(connection, filter, after, null).limit(size);
  if (more.length === 0) return first;
  const apart = [first, ...more].map((rows) => connection.selectFrom(rows.as("one")).selectAll());
  const together = apart.reduce((all, rows) => all.unionAll(rows));
  return connection
    .selectFrom(together.as("tasks"))
    .selectAll()
    .orderBy("created_at", orderOf(filter))
    .orderBy("id", orderOf(filter))
    .limit(size);
}

const orderOf = ({ oldestFirst }: TaskFilter): "asc" | "desc" => (oldestFirst === true ? "asc" : "desc");

/** Ids are ordered by time, so that of all tasks the newest are found without an index of their own. */
function ofEveryWorkspace(connection: Connection, filter: TaskFilter, after: Place | null): Rows {
  let query = narrowed(connection, filter).orderBy("id", "desc");
  if (filter.states !== undefined) query = query.where("state", "in", filter.states);
  return after === null ? query : query.where("id", "<", after.id);
}

function matching(connection: Connection, filter: TaskFilter, after: Place | null, state: TaskState | null): Rows {
  let query = narrowed(connection, filter)
    .where("workspace_id", "=", filter.workspaceId)
    .orderBy("created_at", orderOf(filter))
    .orderBy("id", orderOf(filter));
  if (state !== null) query = query.where("state", "=", state);
  if (after === null) return query;
  const order = filter.oldestFirst === true ? "oldest first" : "newest first";
  return query.where(isBehind(["created_at", "id"], after, order));
}

function narrowed(connection: Connection, { keyId, model, seenPerson }: TaskFilter): Rows {
  let query = connection
    .selectFrom("tasks")
    .select(taskColumns)
    .where("kind", "=", "video")
    .where("deleted_at", "is", null);
  if (keyId !== undefined) query = query.where("key_id", "=", keyId);
  if (model !== undefined) query = query.where("model", "=", model);
  if (seenPerson === undefined) return query;
  return query.where((eb) => eb.or([eb("person_id", "is", null), eb("person_id", "=", seenPerson)]));
}
