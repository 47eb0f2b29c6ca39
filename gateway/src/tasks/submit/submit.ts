import { remarkSentence } from "@sluice/contract/words";
import { asFailure, bounds, type Failure, type Model, sleep, type Task, videoPrice } from "#core/index.ts";
import { accountRedactor } from "#providers/index.ts";
import type { Plan } from "#routing/index.ts";
import type { MaterialInHand } from "../accept/task-body.ts";
import type { VideoRequest } from "../accept/validate-video.ts";
import type { TaskDependencies } from "../dependencies.ts";
import { pollDelayMs } from "../poll/pace.ts";
import { settle } from "../settle/settle.ts";
import type { TaskStore } from "../store/task-store.ts";
import type { TaskPass } from "../task-pass.ts";
import { accountOf } from "../upstream-call.ts";
import { planStages, type StagePlan, type SubmitStage } from "./plan-stages.ts";
import { explainSubmission, refusalAsError, refusalForCaller, SubmissionStory } from "./refusals.ts";
import { type CreateResult, prepareCreate, sendCreate } from "./send-create.ts";

/** One task on its way to an upstream. */
interface Submission {
  readonly pass: TaskPass;
  readonly request: VideoRequest;
  /** The model asked for, then its fallbacks. */
  readonly models: readonly Model[];
  /** What the marks in the request stand for; null where there are none. */
  readonly material: MaterialInHand | null;
}

/** What has become of one attempt. `lost`: another pass has the task, so nothing was sent. */
type Attempted = { readonly kind: "left" | "lost" } | { readonly kind: "refused"; readonly failure: Failure };

/**
 * Walks the plan until an upstream has the task, or may have it: what was sent and not answered is never sent again, to
 * nobody. Resolves to the failure when every deployment has refused and the task has ended with it, else to null. Throws
 * storage_unavailable, with the task as the store has it.
 */
export async function submit(dependencies: TaskDependencies, submission: Submission): Promise<Failure | null> {
  const { pass } = submission;
  const walk = { startMs: dependencies.clock.monotonic(), sent: false, story: new SubmissionStory() };
  try {
    return await walkAll(dependencies, submission, walk);
  } finally {
    explainSubmission(dependencies, pass.task, walk.story);
    if (submission.material !== null) await dependencies.materials.drop(pass.task.id);
  }
}

async function walkAll(dependencies: TaskDependencies, submission: Submission, walk: Walk): Promise<Failure | null> {
  const { pass, request, models } = submission;
  let failure: Failure | null = null;
  try {
    const stagePlan = await planStages(dependencies, pass.task, request);
    for (const stage of stagePlan.stages) {
      const ended = await walkStage(dependencies, submission, { stagePlan, stage, walk });
      if (ended === null) return null;
      failure = betterOf(failure, ended);
      if (failure.retry === "never") break;
    }
  } catch (thrown) {
    failure = asFailure(thrown);
    // The store may know what it did not confirm, and the upstream may have the task: another pass goes on from what is stored.
    if (failure.code === "storage_unavailable") throw failure;
  }
  if (failure === null) return null;
  if (failure.code === "internal_error") {
    dependencies.observer.log("error", "A video task met an unexpected error on its way to its upstream.", {
      task: pass.task.id,
      model: models[0]?.name,
      error: failure.cause,
    });
  }
  const done = await settle(dependencies, pass, {
    state: "failed",
    error: refusalAsError(failure),
    httpStatus: failure.upstream?.status ?? failure.status,
    upstreamStatus: failure.upstream?.status ?? null,
    errorCode: failure.code,
  });
  return done ? refusalForCaller(failure, pass.task.requestId) : null;
}

interface Walk {
  readonly startMs: number;
  /** Something was sent and refused: nobody else may send this task, and this pass goes on doing so. */
  sent: boolean;
  readonly story: SubmissionStory;
}

interface StageWalk {
  readonly stagePlan: StagePlan;
  readonly stage: SubmitStage;
  readonly walk: Walk;
}

/** null: the task is out of our hands. */
async function walkStage(
  dependencies: TaskDependencies,
  submission: Submission,
  { stagePlan, stage, walk }: StageWalk,
): Promise<Failure | null> {
  const { router, clock } = dependencies;
  let plan: Plan;
  try {
    plan = router.plan(submission.models, stage);
    walk.story.plans.push(plan);
  } catch (thrown) {
    const unplanned = asFailure(thrown);
    walk.story.noPlan = { failure: unplanned, places: router.leftOut(submission.models, stage) };
    return unplanned;
  }
  let failure: Failure | null = null;
  for (;;) {
    if (clock.monotonic() - walk.startMs > walkMsMax && failure !== null) return failure;
    const pick = plan.next(failure);
    if (pick === null) return failure ?? asFailure(new Error("a plan without a first pick"));
    try {
      if (pick.waitMs > 0) await sleep(clock, pick.waitMs, null);
      const attempted = await attempt(dependencies, submission, { stagePlan, pick, walk });
      if (attempted.kind !== "refused") return null;
      failure = attempted.failure;
    } finally {
      // Ended already, unless something unexpected was thrown: then the deployment is not to blame.
      pick.end("cancelled", 0);
    }
  }
}

interface AttemptOptions {
  readonly stagePlan: StagePlan;
  readonly pick: NonNullable<ReturnType<Plan["next"]>>;
  readonly walk: Walk;
}

async function attempt(
  dependencies: TaskDependencies,
  submission: Submission,
  options: AttemptOptions,
): Promise<Attempted> {
  const { pass, request, material } = submission;
  const { clock, observer } = dependencies;
  const { stagePlan, pick, walk } = options;
  const { deployment } = pick;
  const startMs = clock.monotonic();
  const { upstreamIds } = stagePlan;
  const toSend = { task: pass.task, request, material };
  const prepared = await prepareCreate(dependencies, toSend, { deployment, upstreamIds }).catch((thrown: unknown) =>
    accountRedactor(deployment.provider).failure(asFailure(thrown)),
  );
  if (prepared instanceof Error) {
    // Nothing was sent, and it is not the deployment's fault: the task waits until there is room or a thread again.
    if (!walk.sent && prepared.upstream === undefined && notNow.has(prepared.code)) {
      await pass.leave({ dueAt: clock.now() + bounds.taskAcceptedGraceMs });
      return { kind: "left" };
    }
    const failure = prepared.with({ arrival: "unsent" });
    pick.end(failure, 0);
    walk.story.failed(pass.task, deployment.provider, failure);
    return { kind: "refused", failure };
  }
  const now = clock.now();
  const begin = {
    state: "submitting" as const,
    account: accountOf(deployment.provider),
    deployment: deployment.id,
    upstreamModel: deployment.upstreamModel,
    ...servedBy(pick.model, pass.task),
    submittedAt: now,
    dueAt: now + bounds.taskSubmitLeaseMs,
    detail: remarkSentence("taskEvent", {
      code: "sent",
      params: { provider: deployment.provider.id, model: deployment.upstreamModel },
    }),
  };
  let result: CreateResult;
  try {
    const begun =
      (await pass.step(begin)) || (walk.sent && (await pass.insist()) === "again" && (await pass.step(begin)));
    if (!begun) return { kind: "lost" };
    walk.sent = true;
    result = await sendCreate(dependencies, prepared.draft, deployment.provider);
  } finally {
    prepared.release();
  }
  const latencyMs = clock.monotonic() - startMs;
  switch (result.kind) {
    case "accepted":
      pick.end("ok", latencyMs);
      await keepAccepted(dependencies, pass, result.upstreamId);
      return { kind: "left" };
    case "refused":
      pick.end(result.failure, latencyMs);
      walk.story.failed(pass.task, deployment.provider, result.failure);
      return result;
    case "unknown": {
      pick.end(result.failure, latencyMs);
      walk.story.failed(pass.task, deployment.provider, result.failure);
      const detail = `nobody knows whether it arrived: ${result.failure.message}`;
      await pass.leave({ state: "unknown", dueAt: clock.now() + unknownFirstLookMs, detail });
      observer.log("warn", "Nobody knows whether a video task arrived at its upstream; it is not sent again.", {
        task: pass.task.id,
        provider: deployment.provider.id,
        reason: result.failure.message,
      });
      return { kind: "left" };
    }
  }
}

/** A fallback is paid at its own price, since its vendor charges for the video; one without a price at that of the model asked for. */
function servedBy(model: Model, { model: asked, asked: request }: Task) {
  const servedModel = model.name === asked ? null : model.name;
  if (model.price === null) return { servedModel };
  const { id: priceVersion, table: priceTable } = videoPrice(model.price, request);
  return { servedModel, priceVersion, priceTable };
}

/** What the gateway itself says when it has no room or no thread, or cannot reach its own files. */
const notNow: ReadonlySet<Failure["code"]> = new Set([
  "overloaded",
  "rate_limit_exceeded",
  "draining",
  "storage_unavailable",
] as const);

/** Long enough for a vendor's list to show what it has. */
const unknownFirstLookMs = 10_000;

/** No attempt begins so late that it could outlast the lease. */
const walkMsMax = bounds.taskSubmitLeaseMs - 2 * bounds.taskSubmitAttemptMs;

/** What an upstream said is worth more to the caller than that nothing else was there to try. */
function betterOf(before: Failure | null, later: Failure): Failure {
  if (before === null) return later;
  return later.code === "no_deployment_available" || later.code === "unsupported_by_model" ? before : later;
}

/**
 * Notes what the upstream calls the task: the one thing that nobody else knows. A lease that was lost meanwhile is asked for
 * again, and a store that fails is tried again, for a while; after that only the vendor's list can find the task.
 */
async function keepAccepted(dependencies: TaskDependencies, pass: TaskPass, upstreamId: string): Promise<void> {
  const { clock, chance, observer } = dependencies;
  let reason: unknown = null;
  let late = false;
  for (let tries = 0; tries < triesMax; tries++) {
    try {
      // A task that was taken for lost may have been found in the list meanwhile, as another one that asks for the same.
      if (late && !(await claimUpstreamId(dependencies.store, pass, upstreamId))) return;
      const dueAt = clock.now() + pollDelayMs({ ...pass.task, state: "queued" }, clock.now(), chance.unit());
      if (await pass.leave({ state: "queued", upstreamId, dueAt, detail: accepted })) return;
      const standing = await pass.insist();
      if (standing === "settled") break;
      late = true;
      if (standing === "again") continue;
    } catch (thrown) {
      reason = thrown;
    }
    await sleep(clock, pauseMs, null);
  }
  if (pass.task.upstreamId === upstreamId) return;
  observer.log("error", "An upstream accepted a video task, and that could not be noted.", {
    task: pass.task.id,
    provider: pass.task.account?.providerId,
    upstreamId,
    error: reason,
  });
}

const pauseMs = 500;
const triesMax = Math.ceil((2 * bounds.taskLeaseMs) / pauseMs);

const accepted = remarkSentence("taskEvent", { code: "accepted", params: {} });

/**
 * Two tasks that ask for the same are told apart by nothing but who has which id at the upstream. So the id is written
 * first, under the lease, and then it is asked whether another task has it too: whoever sees another lets go of it, so
 * that one of them keeps it at most. False: it is not this task's, or the lease was lost.
 */
export async function claimUpstreamId(store: TaskStore, pass: TaskPass, upstreamId: string): Promise<boolean> {
  if (!(await pass.step({ upstreamId }))) return false;
  const owners = await store.withUpstreamIds([upstreamId]);
  const { id, account } = pass.task;
  if (!owners.some(({ taskId, providerId }) => taskId !== id && providerId === account?.providerId)) return true;
  await pass.step({ upstreamId: null });
  return false;
}
