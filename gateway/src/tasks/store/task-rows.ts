import { type ExpressionBuilder, type SelectQueryBuilder, sql } from "kysely";
import {
  bounds,
  columnsOf,
  finalTaskStates,
  membersOf,
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
  chunksOf,
  cursorOf,
  cutPage,
  type Database,
  isAfter,
  type NewRow,
  type PagePosition,
  pageSize,
  parseCursor,
  type Row,
  type Tables,
} from "#storage/tables.ts";

export type TaskRow = Row<"tasks">;

/** The changes of a step. `detail` is stored in the history if the state changes. */
export type TaskStep = Partial<Omit<Task, "id" | "kind" | "request" | "updatedAt">> & { readonly detail?: string };

/** Listed explicitly: a later version may add columns. */
export const taskColumns = [
  "id",
  "kind",
  "workspace_id",
  "group_id",
  "key_id",
  "person_id",
  "actor_id",
  "request_id",
  "model",
  "deployment",
  "upstream_model",
  "sealed_account",
  "upstream_id",
  "attempt_id",
  "state",
  "progress",
  "params",
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
  "warnings",
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

const jsonMembers = ["params", "output", "error", "usage", "priceTable", "metadata", "tags", "warnings"] as const;
type ReadRow = Pick<TaskRow, (typeof taskColumns)[number]>;

const optionalMembers = [
  "personId",
  "actorId",
  "servedModel",
  "warnings",
  "deletedAt",
  "placeAt",
  "goneSince",
  "unansweredSince",
] as const;

/** The row of a new task, without a lease. `request` has its own table. */
export function newTaskRow({ account, request: _, ...task }: Task, vault: Vault): NewRow<"tasks"> {
  return {
    ...columnsOf(task, jsonMembers),
    ...accountColumns(task.id, account, vault),
    kind: task.kind ?? "video",
    blob_hash: task.output?.blobHash ?? null,
    final: finalTaskStates.has(task.state) ? 1 : 0,
  };
}

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

/** The account is encrypted, since settings may hold secrets; only the provider id stays readable. */
function accountColumns(
  id: string,
  account: TaskAccount | null,
  vault: Vault,
): Pick<TaskRow, "provider_id" | "sealed_account"> {
  if (account === null) return { provider_id: null, sealed_account: null };
  const sealed = vault.seal(new Secret(JSON.stringify(account)), accountSealId(id));
  return { provider_id: account.providerId, sealed_account: sealed };
}

/** `request` is empty where it was not read. */
export function taskFromRow(row: ReadRow & { readonly request?: string | null }, vault: Vault): Task {
  const { kind, sealed_account, request, ...columns } = row;
  const account = sealed_account === null ? null : vault.open(sealed_account, accountSealId(row.id)).reveal();
  return {
    ...membersOf(columns, jsonMembers, optionalMembers),
    ...(kind === "response" ? { kind } : {}),
    account: account === null ? null : JSON.parse(account),
    request: request ?? "",
  };
}

export function requestColumn(eb: ExpressionBuilder<Tables, "tasks">) {
  return eb
    .selectFrom("task_requests")
    .select("task_requests.request")
    .whereRef("task_requests.task_id", "=", "tasks.id")
    .as("request");
}

function selectTasks(connection: Connection) {
  return connection.selectFrom("tasks").select(taskColumns).select(requestColumn);
}

export function findByKey(connection: Connection, vault: Vault, workspaceId: string, key: string) {
  return firstTask(
    selectTasks(connection).where("workspace_id", "=", workspaceId).where("idempotency_key", "=", key),
    vault,
  );
}

async function firstTask(query: ReturnType<typeof selectTasks>, vault: Vault): Promise<Task | null> {
  const row = await query.executeTakeFirst();
  return row === undefined ? null : taskFromRow(row, vault);
}

/** Reads of tasks without a lease. */
export function taskReads({ kysely }: Database, vault: Vault) {
  return {
    /** Finds a video that was not deleted. */
    find(workspaceId: string, id: string): Promise<Task | null> {
      const inWorkspace = selectTasks(kysely).where("id", "=", id).where("workspace_id", "=", workspaceId);
      return firstTask(inWorkspace.where("kind", "=", "video").where("deleted_at", "is", null), vault);
    },
    /** Finds a task of any workspace and type, even if it was deleted. */
    findById: (id: string): Promise<Task | null> => firstTask(selectTasks(kysely).where("id", "=", id), vault),
    /** Finds a task by its idempotency key, even if the task was deleted. */
    findByKey: (workspaceId: string, key: string): Promise<Task | null> => findByKey(kysely, vault, workspaceId, key),
    async events(taskId: string): Promise<readonly TaskEvent[]> {
      return await kysely
        .selectFrom("task_events")
        .select(["task_id as taskId", "at", "state", "detail"])
        .where("task_id", "=", taskId)
        .orderBy("position")
        .execute();
    },
    /** A page of videos, newest first by default. Without their requests, which could be gigabytes. */
    async page(filter: TaskFilter, cursor: string | TaskPosition | null, limit: number): Promise<TaskPage> {
      const size = pageSize(limit);
      const after =
        typeof cursor === "string" ? parseCursor(cursor) : cursor && { at: cursor.createdAt, id: cursor.id };
      if (filter.states?.length === 0) return { tasks: [], next: null };
      // One extra row shows whether there is another page.
      const rows = await firstTasks(kysely, filter, after, size + 1).execute();
      const { page, next } = cutPage(rows, size, (last) => cursorOf({ at: last.created_at, id: last.id }));
      return { tasks: page.map((row) => taskFromRow(row, vault)), next };
    },
    /** Open tasks with their reserved amounts, to restore holds after a restart. */
    async *open() {
      for (let after = ""; ; ) {
        const rows = await kysely
          .selectFrom("tasks")
          .select(["id", "kind", "workspace_id", "group_id", "key_id", "person_id", "model", "served_model"])
          .select(["tags", "reserved_nano_usd", "deployment", "provider_id as provider"])
          .where("final", "=", sql.lit(0))
          .where("id", ">", after)
          .orderBy("id")
          .limit(bounds.listPageMax)
          .execute();
        for (const row of rows) yield membersOf(row, ["tags"], ["personId", "provider", "servedModel"]);
        const last = rows.at(-1);
        if (last === undefined || rows.length < bounds.listPageMax) return;
        after = last.id;
      }
    },
    /** Open background responses, and the creation time of the oldest (Unix milliseconds). Served by the partial index of open tasks. */
    async openResponses(): Promise<{ readonly count: number; readonly oldestAt: number | null }> {
      const row = await kysely
        .selectFrom("tasks")
        .select(({ fn }) => [fn.countAll<number>().as("count"), fn.min<number | null>("created_at").as("oldest")])
        .where("kind", "=", sql.lit("response"))
        .where("final", "=", sql.lit(0))
        .executeTakeFirstOrThrow();
      return { count: Number(row.count), oldestAt: row.oldest === null ? null : Number(row.oldest) };
    },
    /** Tasks of any workspace with these upstream ids, to match a vendor's list. */
    async withUpstreamIds(upstreamIds: readonly string[]) {
      const owners: { taskId: string; upstreamId: string; providerId: string | null }[] = [];
      for (const some of chunksOf([...new Set(upstreamIds)], idsAtOnce)) {
        // Padded to a fixed length, so that one prepared statement serves every list.
        const padded = Array.from({ length: idsAtOnce }, (_, index) => some[index] ?? some.at(-1) ?? "");
        const rows = await kysely
          .selectFrom("tasks")
          .select(["id as taskId", "upstream_id as upstreamId", "provider_id as providerId"])
          .where("upstream_id", "in", padded)
          .execute();
        owners.push(...rows.map((row) => ({ ...row, upstreamId: row.upstreamId ?? "" })));
      }
      return owners;
    },
  };
}

const idsAtOnce = 64;

export interface TaskFilter {
  /** null: every workspace. */
  readonly workspaceId: string | null;
  readonly keyId?: string;
  readonly model?: string;
  readonly states?: readonly TaskState[];
  /** Only tasks of this person and tasks without a person. Default, or null: all. */
  readonly visiblePerson?: string | null;
  /** Default: newest first. For one workspace only. */
  readonly oldestFirst?: boolean;
}

export type TaskPosition = Pick<Task, "id" | "createdAt">;

/** `next` is the cursor of the following page; null at the end. */
export interface TaskPage {
  readonly tasks: readonly Task[];
  readonly next: string | null;
}

type Rows = SelectQueryBuilder<Tables, "tasks", ReadRow>;

/** Reads each state in index order and merges them: with several states in one condition the database would sort every matching task. */
function firstTasks(connection: Connection, filter: TaskFilter, after: PagePosition | null, size: number) {
  if (filter.workspaceId === null) return allWorkspacesQuery(connection, filter, after).limit(size);
  const states = [...new Set(filter.states ?? [])];
  const [first, ...more] = states.map((state) => workspaceQuery(connection, filter, after, state).limit(size));
  if (first === undefined) return workspaceQuery(connection, filter, after, null).limit(size);
  if (more.length === 0) return first;
  const queries = [first, ...more].map((rows) => connection.selectFrom(rows.as("one")).selectAll());
  const union = queries.reduce((all, rows) => all.unionAll(rows));
  return connection
    .selectFrom(union.as("tasks"))
    .selectAll()
    .orderBy("created_at", orderOf(filter))
    .orderBy("id", orderOf(filter))
    .limit(size);
}

const orderOf = ({ oldestFirst }: TaskFilter): "asc" | "desc" => (oldestFirst === true ? "asc" : "desc");

/** Ids are ordered by time, so this needs no other index. */
function allWorkspacesQuery(connection: Connection, filter: TaskFilter, after: PagePosition | null): Rows {
  let query = filteredQuery(connection, filter).orderBy("id", "desc");
  if (filter.states !== undefined) query = query.where("state", "in", filter.states);
  return after === null ? query : query.where("id", "<", after.id);
}

function workspaceQuery(
  connection: Connection,
  filter: TaskFilter,
  after: PagePosition | null,
  state: TaskState | null,
): Rows {
  let query = filteredQuery(connection, filter)
    .where("workspace_id", "=", filter.workspaceId)
    .orderBy("created_at", orderOf(filter))
    .orderBy("id", orderOf(filter));
  if (state !== null) query = query.where("state", "=", state);
  if (after === null) return query;
  const order = filter.oldestFirst === true ? "oldest first" : "newest first";
  return query.where(isAfter(["created_at", "id"], after, order));
}

function filteredQuery(connection: Connection, { keyId, model, visiblePerson }: TaskFilter): Rows {
  let query = connection
    .selectFrom("tasks")
    .select(taskColumns)
    .where("kind", "=", "video")
    .where("deleted_at", "is", null);
  if (keyId !== undefined) query = query.where("key_id", "=", keyId);
  if (model !== undefined) query = query.where("model", "=", model);
  if (visiblePerson == null) return query;
  return query.where((eb) => eb.or([eb("person_id", "is", null), eb("person_id", "=", visiblePerson)]));
}
