import { shadowRefusedPrefix } from "@sluice/contract/words";
import {
  asFailure,
  bounds,
  Failure,
  failureTable,
  type Model,
  type Principal,
  peopleFields,
  refusedModel,
  type ShadowDenial,
  shownState,
  type Task,
  type TaskRequest,
  throwIfGone,
  videoPrice,
  within,
} from "#core/index.ts";
import { nothingWanted, type Permit } from "#limits/index.ts";
import { explanationOf } from "#relay/index.ts";
import type { TaskDependencies } from "../dependencies.ts";
import type { MemoryHold } from "../options.ts";
import { earlierTasks, holdersOf } from "../submit/plan-stages.ts";
import { submit } from "../submit/submit.ts";
import { TaskPass } from "../task-pass.ts";
import { checkCapabilities, videoKindOf, videoLanesOf } from "../video-lanes.ts";
import { reservedCost } from "./estimate.ts";
import type { LoadedMaterial, TaskBody } from "./task-body.ts";
import { invalidParameter, readVideoRequest, type VideoRequest } from "./validate-video.ts";
import { checkFiles } from "./video-files.ts";

/** Vendors give up after at most 72 hours themselves. */
export const taskDeadlineMsMax = 73 * 3_600_000;
export const idempotencyKeyBytesMax = 255;
/** How long a POST waits for all attempts to submit. */
const taskSubmitWaitMs = 60_000;

export interface CreateCall {
  readonly requestId: string;
  readonly principal: Principal;
  readonly model: string;
  /** The requested model, then the fallbacks that the caller may use. */
  readonly models: readonly Model[];
  readonly body: TaskBody;
  /** The memory of the body; released when nothing uses the body any more. */
  readonly held: MemoryHold;
  readonly idempotencyKey: string | null;
  readonly userAgent: string;
  readonly tags: Readonly<Record<string, string>>;
  /** The grants in shadow mode that would have refused it. */
  readonly shadowDenials: readonly ShadowDenial[];
  /** Ends the wait for the result, never the submission. */
  readonly signal: AbortSignal;
}

/**
 * Accepts a task and submits it. The row and its hold are stored before anything is sent. Throws the Failure of a task that
 * was refused, by the gateway or by every upstream.
 */
export async function createTask(dependencies: TaskDependencies, call: CreateCall): Promise<Task> {
  const startMs = dependencies.clock.monotonic();
  let accepted: Accepted;
  try {
    accepted = await accept(dependencies, call);
  } catch (thrown) {
    call.held.release();
    throw recordRefusal(dependencies, call, asFailure(thrown), dependencies.clock.monotonic() - startMs);
  }
  const { task, request, material } = accepted;
  if (material === null) call.held.release();
  if (request === null) return task;
  const { clock, store } = dependencies;
  const submitted = submitAccepted(dependencies, accepted, call.models);
  const onTimeout = (): null => {
    throwIfGone(call.signal);
    return null;
  };
  const failure = await within(clock, taskSubmitWaitMs, submitted, onTimeout, call.signal);
  if (failure !== null) throw failure;
  return (await store.findById(task.id).catch(() => null)) ?? task;
}

interface Accepted {
  readonly task: Task;
  /** null: an earlier call with the same idempotency key created the task and submits it. */
  readonly request: VideoRequest | null;
  readonly material: LoadedMaterial | null;
}

async function accept(dependencies: TaskDependencies, call: CreateCall): Promise<Accepted> {
  const { principal, models, signal } = call;
  if (models.length === 0) {
    throw new Failure("model_not_found", `The model "${call.model}" does not exist.`, { param: "model" });
  }
  if (call.idempotencyKey === "" || (call.idempotencyKey?.length ?? 0) > idempotencyKeyBytesMax) {
    throw invalidParameter("Idempotency-Key", `must have 1 to ${idempotencyKeyBytesMax} characters`);
  }
  // A repetition needs nothing that its first call named: assets and files may be deleted since.
  const earlier = await findEarlierTask(dependencies, call);
  const begin = earlier === null ? await checked(dependencies, call) : () => Promise.resolve(earlier);
  throwIfGone(signal);
  const rates = await dependencies.admission.admit(principal, nothingWanted, call.requestId);
  try {
    const accepted = await begin();
    rates.settle(0);
    if (accepted.request !== null) for (const denial of call.shadowDenials) dependencies.onShadowDenial(denial);
    return accepted;
  } catch (thrown) {
    rates.release();
    throw thrown;
  }
}

/** Checks the request. Resolves to what stores its task. */
async function checked(dependencies: TaskDependencies, call: CreateCall): Promise<() => Promise<Accepted>> {
  const { principal, models, body } = call;
  let request = readVideoRequest(body.value, dependencies.webhookExemptions);
  const { remixed } = await earlierTasks(dependencies, principal.workspace.id, request);
  if (remixed !== null) request = { ...request, params: remixRequest(request, remixed, models) };
  checkCapabilities(models, request);
  await holdersOf(dependencies, principal.workspace.id, request.references.assetIds);
  await checkFiles(dependencies, call, request.files);
  return () => storeTask(dependencies, call, request);
}

/** The task with the same idempotency key. */
async function findEarlierTask(
  dependencies: TaskDependencies,
  { body, principal, idempotencyKey }: CreateCall,
): Promise<Accepted | null> {
  if (idempotencyKey === null) return null;
  const earlier = await dependencies.store.findByKey(principal.workspace.id, idempotencyKey);
  return earlier === null ? null : acceptedEarlier(earlier, body);
}

function acceptedEarlier(task: Task, { digest }: TaskBody): Accepted {
  const param = "Idempotency-Key";
  if (task.deletedAt !== undefined) {
    throw new Failure("conflict", "The video of this Idempotency-Key was deleted.", { param });
  }
  if (task.requestDigest === digest) return { task, request: null, material: null };
  throw new Failure("idempotency_conflict", "This Idempotency-Key was already used with another body.", { param });
}

async function storeTask(dependencies: TaskDependencies, call: CreateCall, request: VideoRequest): Promise<Accepted> {
  const { body, held } = call;
  const draft = newTask(dependencies, call, request);
  const hold: Permit = await dependencies.admission.hold(call.principal, draft.reservedNanoUsd, false, draft.id, draft);
  const heldMs = dependencies.clock.monotonic();
  let stored: Awaited<ReturnType<TaskDependencies["store"]["create"]>>;
  let isUncertain = false;
  try {
    await dependencies.materials.store(body, call.signal);
    stored = await dependencies.store.create(draft, body.material).catch(async (thrown: unknown) => {
      if (asFailure(thrown).arrival === "unsent") throw thrown;
      // The commit may have succeeded even if its confirmation was lost.
      const task = await dependencies.store.findById(draft.id).catch(() => {
        isUncertain = true;
        return null;
      });
      if (task === null) throw thrown;
      return { task, created: true };
    });
  } catch (thrown) {
    // Keep the hold unless the store confirmed that there is no such task.
    if (isUncertain) dependencies.holds.keep(draft.id, hold);
    else hold.release();
    if (body.material !== null) await dependencies.materials.drop(draft.id);
    throw thrown;
  }
  if (!stored.created) {
    hold.release();
    if (body.material !== null) await dependencies.materials.drop(draft.id);
    return acceptedEarlier(stored.task, body);
  }
  dependencies.holds.keep(draft.id, hold);
  // Storing material may take so long that a sweep ended the hold.
  const tookMs = dependencies.clock.monotonic() - heldMs;
  if (tookMs >= bounds.taskHoldUnstoredMs / 2) await dependencies.holds.ensure(stored.task);
  const { material } = body;
  return {
    task: stored.task,
    request,
    material: material === null ? null : dependencies.materials.load(material, material.bytes, held),
  };
}

/** Resolves to the failure that ended the task, or null. Never throws: an error would make the caller send an accepted task again. */
async function submitAccepted(
  dependencies: TaskDependencies,
  { task, request, material }: Accepted,
  models: readonly Model[],
): Promise<Failure | null> {
  try {
    const leased = await dependencies.store.leaseOne(task.id, dependencies.clock.now(), bounds.taskSubmitLeaseMs);
    if (leased === null || request === null) return null;
    const pass = new TaskPass(dependencies, leased);
    if (pass.task.state === "accepted") return await submit({ pass, request, models, material });
    await pass.release({});
  } catch (thrown) {
    dependencies.observer.log("error", "failed to submit an accepted video task; retrying", {
      task: task.id,
      error: thrown,
    });
  } finally {
    material?.release();
  }
  return null;
}

function newTask(dependencies: TaskDependencies, call: CreateCall, request: VideoRequest): Task {
  const { clock, ids } = dependencies;
  const { principal } = call;
  const now = clock.now();
  const capabilities = videoLanesOf(call.models).map(({ capabilities }) => capabilities);
  const version = call.models[0]?.price ?? null;
  const price = version === null ? null : videoPrice(version, request.params);
  return {
    id: call.body.taskId,
    workspaceId: principal.workspace.id,
    groupId: principal.group.id,
    keyId: principal.key.id,
    ...peopleFields(principal),
    requestId: call.requestId,
    model: call.model,
    deployment: "",
    upstreamModel: "",
    account: null,
    upstreamId: null,
    attemptId: ids.next("att_"),
    state: "accepted",
    progress: null,
    request: call.body.text,
    params: request.params,
    output: null,
    error: null,
    usage: null,
    rawUsage: null,
    costNanoUsd: null,
    // Each model is charged at its own price.
    reservedNanoUsd: Math.max(
      ...call.models.map((model) => {
        const table = model.price === null ? null : videoPrice(model.price, request.params).table;
        return reservedCost(table, request.params, capabilities);
      }),
    ),
    priceVersion: price?.id ?? null,
    priceTable: price?.table ?? null,
    idempotencyKey: call.idempotencyKey,
    requestDigest: call.body.digest,
    callbackUrl: request.callbackUrl,
    metadata: request.metadata,
    userAgent: call.userAgent,
    tags: call.tags,
    ...(call.shadowDenials.length === 0
      ? {}
      : { warnings: call.shadowDenials.map(({ text }) => `${shadowRefusedPrefix}${text}`) }),
    createdAt: now,
    updatedAt: now,
    submittedAt: null,
    startedAt: null,
    finishedAt: null,
    deadlineAt: now + deadlineMs(request),
    dueAt: now + bounds.taskAcceptedGraceMs,
    polls: 0,
  };
}

/** One hour beyond the vendor's limit (Ark: execution_expires_after), if the caller sets it. */
function deadlineMs({ vendorFields }: VideoRequest): number {
  const seconds = vendorFields["execution_expires_after"];
  if (typeof seconds !== "number" || !(seconds > 0)) return bounds.taskDeadlineMs;
  return Math.min(taskDeadlineMsMax, Math.ceil(seconds * 1_000) + 3_600_000);
}

/** Records a refused call in the ledger, with no usage. */
function recordRefusal(dependencies: TaskDependencies, call: CreateCall, failure: Failure, totalMs: number): Failure {
  const { principal } = call;
  dependencies.recorder.refuse(
    {
      requestId: call.requestId,
      workspaceId: principal.workspace.id,
      groupId: principal.group.id,
      keyId: principal.key.id,
      ...peopleFields(principal),
      model: refusedModel(call.models[0]?.name, call.model),
      requestedModel: call.model,
      endpoint: "video",
      callerDialect: "video-tasks",
      stream: false,
      inputEstimate: 0,
      userAgent: call.userAgent,
      tags: call.tags,
    },
    failure.code,
    failureTable[failure.code].status,
    totalMs,
  );
  if (failure.code !== "client_closed") {
    dependencies.explainer.explain({
      requestId: call.requestId,
      workspaceId: principal.workspace.id,
      isImportant: true,
      explanation: () => explanationOf({ places: [], steps: [] }, failure, []),
    });
  }
  if (failure.code === "internal_error") {
    dependencies.observer.log("error", "failed to accept a video task", {
      requestId: call.requestId,
      error: failure.cause,
    });
  }
  return failure;
}

/**
 * A remix has a new prompt and keeps the other values of its video, which decide the price. Throws invalid_request if the
 * video did not succeed, unsupported_by_model if its upstream makes no remixes or does not serve this model.
 */
function remixRequest({ params }: VideoRequest, video: Task, models: readonly Model[]): TaskRequest {
  const { account, upstreamModel, usage } = video;
  if (video.state !== "succeeded" || account === null) {
    throw remixRefusal("invalid_request", `The video cannot be remixed: it is ${shownState(video.state)}.`);
  }
  if (videoKindOf(account.kind)?.adapter.remixes !== true) {
    throw remixRefusal(
      "unsupported_by_model",
      `The upstream of the model "${video.model}" makes no remixes of its videos.`,
    );
  }
  const served = models.some(({ deployments }) =>
    deployments.some((one) => one.provider.id === account.providerId && one.upstreamModel === upstreamModel),
  );
  if (!served) {
    throw remixRefusal(
      "unsupported_by_model",
      `The model "${models[0]?.name}" is not served by the upstream of the video.`,
    );
  }
  const { ratio, resolution, durationSeconds, audio } = video.params;
  const videoSeconds = Math.ceil(usage?.videoSeconds ?? 0);
  return {
    ...params,
    ratio,
    resolution,
    audio,
    durationSeconds: durationSeconds ?? (videoSeconds > 0 ? videoSeconds : null),
  };
}

function remixRefusal(code: "invalid_request" | "unsupported_by_model", message: string): Failure {
  return new Failure(code, message, { param: "remix_of" });
}
