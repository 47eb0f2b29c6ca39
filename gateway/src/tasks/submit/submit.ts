import { remarkSentence } from "@sluice/contract/words";
import { asFailure, bounds, type Failure, type Model, sleep, videoPrice } from "#core/index.ts";
import { accountRedactor } from "#providers/index.ts";
import { explanationOf, type FailedAttempt, upstreamWords } from "#relay/index.ts";
import type { Place, Plan } from "#routing/index.ts";
import type { LoadedMaterial } from "../accept/task-body.ts";
import type { VideoRequest } from "../accept/validate-video.ts";
import type { TaskDependencies } from "../dependencies.ts";
import { pollDelayMs } from "../poll/pace.ts";
import { settle } from "../settle/settle.ts";
import type { TaskPass } from "../task-pass.ts";
import { taskAccountOf } from "../upstream-call.ts";
import { planStages, type SubmitStage } from "./plan-stages.ts";
import { refusalForCaller, taskErrorOf } from "./refusals.ts";
import { type CreateResult, prepareCreate, sendCreate } from "./send-create.ts";

interface Submission {
  readonly pass: TaskPass;
  readonly request: VideoRequest;
  /** The requested model, then its fallbacks. */
  readonly models: readonly Model[];
  /** The inline material of the request; null if there is none. */
  readonly material: LoadedMaterial | null;
}

type Pick = NonNullable<ReturnType<Plan["next"]>>;

/**
 * Tries deployments until one has the task, or may have it. A request without an answer is never sent again, to any
 * deployment. Resolves to the failure if every deployment refused and the task has ended, otherwise to null. Throws
 * storage_unavailable and leaves the task as stored.
 *
 * States: accepted → submitting before each request → queued if the upstream accepted it, unknown if it did not answer,
 * failed after the last refusal.
 */
export async function submit(submission: Submission): Promise<Failure | null> {
  const run = new SubmissionRun(submission);
  try {
    return await run.run();
  } finally {
    run.explain();
    if (submission.material !== null) await submission.pass.dependencies.materials.drop(submission.pass.task.id);
  }
}

class SubmissionRun {
  readonly #dependencies: TaskDependencies;
  readonly #submission: Submission;
  readonly #pass: TaskPass;
  readonly #startMs: number;
  /** An attempt was sent and refused, so only this pass may continue. */
  #sent = false;
  /** The deployment of which the provider's policies hold the money; null: none does. */
  #heldAt: string | null = null;
  /** For the explanation of the call. */
  readonly #plans: Plan[] = [];
  readonly #failures: FailedAttempt[] = [];
  #noPlan: { readonly failure: Failure; readonly places: readonly Place[] } | null = null;

  constructor(submission: Submission) {
    this.#dependencies = submission.pass.dependencies;
    this.#submission = submission;
    this.#pass = submission.pass;
    this.#startMs = this.#dependencies.clock.monotonic();
  }

  async run(): Promise<Failure | null> {
    const { request, models } = this.#submission;
    let failure: Failure | null = null;
    try {
      const { stages, upstreamIds } = await planStages(this.#dependencies, this.#pass.task, request);
      for (const stage of stages) {
        const ended = await this.#tryStage(stage, upstreamIds);
        if (ended === null) return null;
        failure = moreUseful(failure, ended);
        if (failure.retry === "never") break;
      }
    } catch (thrown) {
      failure = asFailure(thrown);
      // A write may have succeeded without confirmation, so another pass continues from the stored state.
      if (failure.code === "storage_unavailable") throw failure;
    }
    if (failure === null) return null;
    const { task } = this.#pass;
    if (failure.code === "internal_error") {
      const message = "Unexpected error while submitting a video task.";
      const fields = { task: task.id, model: models[0]?.name, error: failure.cause };
      this.#dependencies.observer.log("error", message, fields);
    }
    const done = await settle(this.#pass, {
      state: "failed",
      error: taskErrorOf(failure),
      httpStatus: failure.upstream?.status ?? failure.status,
      upstreamStatus: failure.upstream?.status ?? null,
      errorCode: failure.code,
    });
    return done ? refusalForCaller(failure, task.requestId) : null;
  }

  /** Explains the submission, unless there was one deployment and it accepted the task. */
  explain(): void {
    const refused = this.#plans.length === 0 ? this.#noPlan : null;
    const isImportant = this.#failures.length > 0 || refused !== null;
    if (!isImportant && !this.#plans.some(({ chosen }) => chosen)) return;
    const { requestId, workspaceId } = this.#pass.task;
    const explanation = () => {
      const stories = this.#plans.map((plan) => plan.explain());
      const places = refused?.places ?? stories.flatMap((story) => story.places);
      const steps = stories.flatMap((story) => story.steps);
      return explanationOf({ places, steps }, refused?.failure ?? null, this.#failures);
    };
    this.#dependencies.explainer.explain({ requestId, workspaceId, isImportant, explanation });
  }

  /** null: nothing remains to be tried in this pass. */
  async #tryStage(stage: SubmitStage, upstreamIds: ReadonlyMap<string, string>): Promise<Failure | null> {
    const { router, clock } = this.#dependencies;
    const { models } = this.#submission;
    let plan: Plan;
    try {
      plan = router.plan(models, stage);
      this.#plans.push(plan);
    } catch (thrown) {
      const unplanned = asFailure(thrown);
      this.#noPlan = { failure: unplanned, places: router.leftOut(models, stage) };
      return unplanned;
    }
    let failure: Failure | null = null;
    for (;;) {
      if (clock.monotonic() - this.#startMs > submitMsMax && failure !== null) return failure;
      const pick = plan.next(failure);
      if (pick === null) return failure ?? asFailure(new Error("a plan without a first pick"));
      try {
        if (pick.waitMs > 0) await sleep(clock, pick.waitMs, null);
        failure = await this.#attempt(pick, upstreamIds);
        if (failure === null) return null;
      } finally {
        // Already ended, unless an unexpected error was thrown.
        pick.end("cancelled", 0);
      }
    }
  }

  /** Resolves to the refusal, or to null if the upstream has or may have the task, the task waits, or another pass has it. */
  async #attempt(pick: Pick, upstreamIds: ReadonlyMap<string, string>): Promise<Failure | null> {
    const { clock } = this.#dependencies;
    const { deployment } = pick;
    const { provider } = deployment;
    const startMs = clock.monotonic();
    const preparing = prepareCreate(this.#dependencies, this.#pass.task, this.#submission, deployment, upstreamIds);
    const prepared = await preparing.catch((thrown: unknown) => accountRedactor(provider).failure(asFailure(thrown)));
    if (prepared instanceof Error) {
      // Nothing was sent and the gateway lacks memory, threads or storage: the task waits.
      if (!this.#sent && prepared.upstream === undefined && temporaryCodes.has(prepared.code)) {
        await this.#pass.release({ dueAt: clock.now() + bounds.taskAcceptedGraceMs });
        return null;
      }
      return this.#failed(pick, prepared.with({ arrival: "unsent" }), 0);
    }
    let result: CreateResult;
    try {
      const refused = await this.#holdAt(pick);
      if (refused !== null) return refused;
      if (!(await this.#begin(pick))) return null;
      this.#sent = true;
      result = await sendCreate(this.#dependencies, prepared.draft, provider);
    } finally {
      prepared.release();
    }
    const latencyMs = clock.monotonic() - startMs;
    if (result.kind === "accepted") {
      pick.end("ok", latencyMs);
      await this.#storeUpstreamId(result.upstreamId);
      return null;
    }
    const failure = this.#failed(pick, result.failure, latencyMs);
    if (result.kind === "refused") return failure;
    const detail = `it may have arrived: ${failure.message}`;
    await this.#pass.release({ state: "unknown", dueAt: clock.now() + unknownFirstPollMs, detail });
    const message = "A video task may have arrived at its upstream; it is not sent again.";
    const fields = { task: this.#pass.task.id, provider: provider.id, reason: failure.message };
    this.#dependencies.observer.log("warn", message, fields);
    return null;
  }

  /** Holds the money on the policies of the provider, and ends the hold at an earlier one. Resolves to the refusal, or to null. */
  async #holdAt(pick: Pick): Promise<Failure | null> {
    const { holds } = this.#dependencies;
    const { deployment, model } = pick;
    if (this.#heldAt === deployment.id) return null;
    const { task } = this.#pass;
    if (this.#heldAt !== null) holds.leave(task.id, this.#heldAt);
    this.#heldAt = null;
    try {
      await holds.enter(task, deployment, model.name);
      this.#heldAt = deployment.id;
      return null;
    } catch (thrown) {
      pick.end("cancelled", 0);
      return this.#note(pick, asFailure(thrown).with({ retry: "other", arrival: "unsent" }));
    }
  }

  /** Records that the request is about to be sent. False: another pass has the task; do not send. */
  async #begin({ deployment, model }: Pick): Promise<boolean> {
    const pass = this.#pass;
    const now = this.#dependencies.clock.now();
    const { provider, upstreamModel } = deployment;
    // A fallback is charged at its own price if it has one.
    const price = model.price === null ? null : videoPrice(model.price, pass.task.params);
    const begin = {
      state: "submitting" as const,
      account: taskAccountOf(provider),
      deployment: deployment.id,
      upstreamModel,
      servedModel: model.name === pass.task.model ? null : model.name,
      ...(price === null ? {} : { priceVersion: price.id, priceTable: price.table }),
      submittedAt: now,
      dueAt: now + bounds.taskSubmitLeaseMs,
      detail: remarkSentence("taskEvent", { code: "sent", params: { provider: provider.id, model: upstreamModel } }),
    };
    if (await pass.step(begin)) return true;
    return this.#sent && (await pass.leaseAgain()) === "again" && (await pass.step(begin));
  }

  /** The ledger has one entry per task, not per attempt. */
  #failed(pick: Pick, failure: Failure, latencyMs: number): Failure {
    pick.end(failure, latencyMs);
    return this.#note(pick, failure);
  }

  #note(pick: Pick, failure: Failure): Failure {
    const { code, retry } = failure;
    const message = upstreamWords(`${pick.deployment.provider.id}: ${taskErrorOf(failure).message}`);
    this.#failures.push({ attemptId: this.#pass.task.attemptId, code, message, retry });
    return failure;
  }

  /**
   * Stores the upstream's task id, which nothing else knows. Leases the task again if the lease was lost and retries a
   * failed store for a while; after that only the vendor's list can find the task.
   */
  async #storeUpstreamId(upstreamId: string): Promise<void> {
    const { clock, chance, observer } = this.#dependencies;
    const pass = this.#pass;
    let reason: unknown = null;
    let leaseLost = false;
    for (let tries = 0; tries < triesMax; tries++) {
      try {
        // Another task with the same request may have adopted this id from the vendor's list.
        if (leaseLost && !(await pass.claim(upstreamId))) return;
        const dueAt = clock.now() + pollDelayMs({ ...pass.task, state: "queued" }, clock.now(), chance.unit());
        if (await pass.release({ state: "queued", upstreamId, dueAt, detail: accepted })) return;
        const lease = await pass.leaseAgain();
        if (lease === "settled") break;
        leaseLost = true;
        if (lease === "again") continue;
      } catch (thrown) {
        reason = thrown;
      }
      await sleep(clock, pauseMs, null);
    }
    if (pass.task.upstreamId === upstreamId) return;
    observer.log("error", "failed to store the upstream's id of an accepted video task", {
      task: pass.task.id,
      provider: pass.task.account?.providerId,
      upstreamId,
      error: reason,
    });
  }
}

/** The gateway's own temporary failures. */
const temporaryCodes: ReadonlySet<Failure["code"]> = new Set([
  "overloaded",
  "rate_limit_exceeded",
  "draining",
  "storage_unavailable",
] as const);

/** Time for the task to appear in the vendor's list. */
const unknownFirstPollMs = 10_000;

/** An attempt must end before the lease does. */
const submitMsMax = bounds.taskSubmitLeaseMs - 2 * bounds.taskSubmitAttemptMs;

const pauseMs = 500;
const triesMax = Math.ceil((2 * bounds.taskLeaseMs) / pauseMs);

const accepted = remarkSentence("taskEvent", { code: "accepted", params: {} });

/** Prefers a vendor's refusal to the message that no other deployment is available. */
function moreUseful(before: Failure | null, later: Failure): Failure {
  if (before === null) return later;
  return later.code === "no_deployment_available" || later.code === "unsupported_by_model" ? before : later;
}
