import type { Task, TaskAccount, TaskState } from "#core/index.ts";
import { finalTaskStates, Secret } from "#core/index.ts";
import type { TaskStep, Vault } from "#ports/index.ts";
import type { Row } from "../database/schema.ts";

export type TaskRow = Row<"tasks">;

/** The row of a task as it is accepted: nobody has it under a lease. */
export function rowOf(task: Task, vault: Vault): TaskRow {
  return {
    id: task.id,
    kind: task.kind ?? "video",
    workspace_id: task.workspaceId,
    group_id: task.groupId,
    key_id: task.keyId,
    person_id: task.personId ?? null,
    request_id: task.requestId,
    model: task.model,
    deployment: task.deployment,
    upstream_model: task.upstreamModel,
    ...accountColumns(task.id, task.account, vault),
    upstream_id: task.upstreamId,
    attempt_id: task.attemptId,
    state: task.state,
    final: finalTaskStates.has(task.state) ? 1 : 0,
    progress: task.progress,
    asked: JSON.stringify(task.asked),
    ...outputColumns(task.output),
    error: textOf(task.error),
    usage: textOf(task.usage),
    raw_usage: task.rawUsage,
    cost_nano_usd: task.costNanoUsd,
    reserved_nano_usd: task.reservedNanoUsd,
    served_model: task.servedModel ?? null,
    price_version: task.priceVersion,
    price_table: textOf(task.priceTable),
    idempotency_key: task.idempotencyKey,
    request_digest: task.requestDigest,
    callback_url: task.callbackUrl,
    metadata: JSON.stringify(task.metadata),
    user_agent: task.userAgent,
    tags: JSON.stringify(task.tags),
    created_at: task.createdAt,
    updated_at: task.updatedAt,
    submitted_at: task.submittedAt,
    started_at: task.startedAt,
    finished_at: task.finishedAt,
    deadline_at: task.deadlineAt,
    due_at: task.dueAt,
    polls: task.polls,
    lease: null,
    leased_until: null,
    deleted_at: null,
    place_at: task.placeAt ?? null,
    gone_since: task.goneSince ?? null,
    unanswered_since: task.unansweredSince ?? null,
  };
}

/** `request` stands in a table of its own. */
export function taskOf(row: TaskRow, request: string, vault: Vault): Task {
  return {
    id: row.id,
    ...(row.kind === "response" ? { kind: row.kind } : {}),
    workspaceId: row.workspace_id,
    groupId: row.group_id,
    keyId: row.key_id,
    ...(row.person_id === null ? {} : { personId: row.person_id }),
    requestId: row.request_id,
    model: row.model,
    deployment: row.deployment,
    upstreamModel: row.upstream_model,
    account: row.sealed_account === null ? null : openAccount(row.id, row.sealed_account, vault),
    upstreamId: row.upstream_id,
    attemptId: row.attempt_id,
    state: row.state as TaskState,
    progress: row.progress,
    request,
    asked: JSON.parse(row.asked),
    output: parsed(row.output),
    error: parsed(row.error),
    usage: parsed(row.usage),
    rawUsage: row.raw_usage,
    costNanoUsd: row.cost_nano_usd,
    reservedNanoUsd: row.reserved_nano_usd,
    ...(row.served_model === null ? {} : { servedModel: row.served_model }),
    priceVersion: row.price_version,
    priceTable: parsed(row.price_table),
    idempotencyKey: row.idempotency_key,
    requestDigest: row.request_digest,
    callbackUrl: row.callback_url,
    metadata: JSON.parse(row.metadata),
    userAgent: row.user_agent,
    tags: JSON.parse(row.tags),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    submittedAt: row.submitted_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    deadlineAt: row.deadline_at,
    dueAt: row.due_at,
    polls: row.polls,
    ...(row.deleted_at === null ? {} : { deletedAt: row.deleted_at }),
    ...(row.place_at === null ? {} : { placeAt: row.place_at }),
    ...(row.gone_since === null ? {} : { goneSince: row.gone_since }),
    ...(row.unanswered_since === null ? {} : { unansweredSince: row.unanswered_since }),
  };
}

/** The columns that a step changes: those it names, and no other. */
export function stepColumns(id: string, step: TaskStep, vault: Vault): Partial<TaskRow> {
  return {
    ...(step.state === undefined ? {} : { state: step.state }),
    ...(step.progress === undefined ? {} : { progress: step.progress }),
    ...(step.upstreamId === undefined ? {} : { upstream_id: step.upstreamId }),
    ...(step.account === undefined ? {} : accountColumns(id, step.account, vault)),
    ...(step.deployment === undefined ? {} : { deployment: step.deployment }),
    ...(step.upstreamModel === undefined ? {} : { upstream_model: step.upstreamModel }),
    ...(step.servedModel === undefined ? {} : { served_model: step.servedModel }),
    ...(step.priceVersion === undefined ? {} : { price_version: step.priceVersion }),
    ...(step.priceTable === undefined ? {} : { price_table: textOf(step.priceTable) }),
    ...(step.output === undefined ? {} : outputColumns(step.output)),
    ...(step.error === undefined ? {} : { error: textOf(step.error) }),
    ...(step.usage === undefined ? {} : { usage: textOf(step.usage) }),
    ...(step.rawUsage === undefined ? {} : { raw_usage: step.rawUsage }),
    ...(step.costNanoUsd === undefined ? {} : { cost_nano_usd: step.costNanoUsd }),
    ...(step.submittedAt === undefined ? {} : { submitted_at: step.submittedAt }),
    ...(step.startedAt === undefined ? {} : { started_at: step.startedAt }),
    ...(step.finishedAt === undefined ? {} : { finished_at: step.finishedAt }),
    ...(step.dueAt === undefined ? {} : { due_at: step.dueAt }),
    ...(step.polls === undefined ? {} : { polls: step.polls }),
    ...(step.placeAt === undefined ? {} : { place_at: step.placeAt }),
    ...(step.goneSince === undefined ? {} : { gone_since: step.goneSince }),
    ...(step.unansweredSince === undefined ? {} : { unanswered_since: step.unansweredSince }),
  };
}

export function outputColumns(output: Task["output"]): Pick<TaskRow, "output" | "blob_hash"> {
  return { output: textOf(output), blob_hash: output?.blobHash ?? null };
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

function openAccount(id: string, sealed: string, vault: Vault): TaskAccount {
  return JSON.parse(vault.open(sealed, accountSealId(id)).reveal());
}

/** An account cannot be moved to another task. */
export function accountSealId(taskId: string): string {
  return `task:${taskId}:account`;
}

function textOf(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}

function parsed(text: string | null) {
  return text === null ? null : JSON.parse(text);
}
