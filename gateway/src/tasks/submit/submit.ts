import { remarkSentence } from "@sluice/contract/words";
import { asFailure, bounds, type Failure, type Model, sleep, videoPrice } from "#core/index.ts";
import { accountRedactor } from "#providers/index.ts";
import { explanationOf, type FailedAttempt, upstreamWords } from "#relay/index.ts";
import type { Place, Plan } from "#routing/index.ts";
import type { MaterialInHand } from "../accept/task-body.ts";
import type { VideoRequest } from "../accept/validate-video.ts";
import type { TaskDependencies } from "../dependencies.ts";
import { pollDelayMs } from "../poll/pace.ts";
import { settle } from "../settle/settle.ts";
import type { TaskPass } from "../task-pass.ts";
import { accountOf } from "../upstream-call.ts";
import { planStages, type SubmitStage } from "./plan-stages.ts";
import { refusalAsError, refusalForCaller } from "./refusals.ts";
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

type Pick = NonNullable<ReturnType<Plan["next"]>>;

/**
 * Walks the plan until an upstream has the task, or may have it: what was sent and not answered is never sent again, to
 * nobody. Resolves to the failure when every deployment has refused and the task has ended with it, else to null. Throws
 * storage_unavailable, with the task as the store has it.
 */
export async function submit(dependencies: TaskDependencies, submission: Submission): Promise<Failure | null> {
  const walk = new Walk(dependencies, submission);
  try {
    return await walk.all();
  } finally {
    walk.explain();
    if (submission.material !== null) await dependencies.materials.drop(submission.pass.task.id);
  }
}

class Walk {
  readonly #dependencies: TaskDependencies;
  readonly #submission: Submission;
  readonly #pass: TaskPass;
  readonly #startMs: number;
  /** Something was sent and refused: nobody else may send this task, and this pass goes on doing so. */
  #sent = false;
  /** What it has gone through, for whoever asks why it ended where it did. */
  readonly #plans: Plan[] = [];
  readonly #failures: FailedAttempt[] = [];
  /** Why there was no plan, when there was none in any stage. */
  #noPlan: { readonly failure: Failure; readonly places: readonly Place[] } | null = null;

  constructor(dependencies: TaskDependencies, submission: Submission) {
    this.#dependencies = dependencies;
    this.#submission = submission;
    this.#pass = submission.pass;
    this.#startMs = dependencies.clock.monotonic();
  }

  async all(): Promise<Failure | null> {
    const { request, models } = this.#submission;
    let failure: Failure | null = null;
    try {
      const { stages, upstreamIds } = await planStages(this.#dependencies, this.#pass.task, request);
      for (const stage of stages) {
        const ended = await this.#walkStage(stage, upstreamIds);
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
    const { task } = this.#pass;
    if (failure.code === "internal_error") {
      const message = "A video task met an unexpected error on its way to its upstream.";
      const fields = { task: task.id, model: models[0]?.name, error: failure.cause };
      this.#dependencies.observer.log("error", message, fields);
    }
    const done = await settle(this.#dependencies, this.#pass, {
      state: "failed",
      error: refusalAsError(failure),
      httpStatus: failure.upstream?.status ?? failure.status,
      upstreamStatus: failure.upstream?.status ?? null,
      errorCode: failure.code,
    });
    return done ? refusalForCaller(failure, task.requestId) : null;
  }

  /** Tells of a submission that is over; nothing when there was one way and it was gone. */
  explain(): void {
    const refused = this.#plans.length === 0 ? this.#noPlan : null;
    const matters = this.#failures.length > 0 || refused !== null;
    if (!matters && !this.#plans.some(({ chosen }) => chosen)) return;
    const { requestId, workspaceId } = this.#pass.task;
    const explanation = () => {
      const stories = this.#plans.map((plan) => plan.explain());
      const places = refused?.places ?? stories.flatMap((story) => story.places);
      const steps = stories.flatMap((story) => story.steps);
      return explanationOf({ places, steps }, refused?.failure ?? null, this.#failures);
    };
    this.#dependencies.explainer.explain({ requestId, workspaceId, matters, explanation });
  }

  /** null: the task is out of our hands. */
  async #walkStage(stage: SubmitStage, upstreamIds: ReadonlyMap<string, string>): Promise<Failure | null> {
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
      if (clock.monotonic() - this.#startMs > walkMsMax && failure !== null) return failure;
      const pick = plan.next(failure);
      if (pick === null) return failure ?? asFailure(new Error("a plan without a first pick"));
      try {
        if (pick.waitMs > 0) await sleep(clock, pick.waitMs, null);
        failure = await this.#attempt(pick, upstreamIds);
        if (failure === null) return null;
      } finally {
        // Ended already, unless something unexpected was thrown: then the deployment is not to blame.
        pick.end("cancelled", 0);
      }
    }
  }

  /** The refusal. null: the upstream has the task, or may have it, or it waits, or another pass has it. */
  async #attempt(pick: Pick, upstreamIds: ReadonlyMap<string, string>): Promise<Failure | null> {
    const { clock } = this.#dependencies;
    const { deployment } = pick;
    const { provider } = deployment;
    const startMs = clock.monotonic();
    const preparing = prepareCreate(this.#dependencies, this.#pass.task, this.#submission, deployment, upstreamIds);
    const prepared = await preparing.catch((thrown: unknown) => accountRedactor(provider).failure(asFailure(thrown)));
    if (prepared instanceof Error) {
      // Nothing was sent, and it is not the deployment's fault: the task waits until there is room or a thread again.
      if (!this.#sent && prepared.upstream === undefined && notNow.has(prepared.code)) {
        await this.#pass.leave({ dueAt: clock.now() + bounds.taskAcceptedGraceMs });
        return null;
      }
      return this.#failed(pick, prepared.with({ arrival: "unsent" }), 0);
    }
    let result: CreateResult;
    try {
      if (!(await this.#begin(pick))) return null;
      this.#sent = true;
      result = await sendCreate(this.#dependencies, prepared.draft, provider);
    } finally {
      prepared.release();
    }
    const latencyMs = clock.monotonic() - startMs;
    if (result.kind === "accepted") {
      pick.end("ok", latencyMs);
      await this.#keepAccepted(result.upstreamId);
      return null;
    }
    const failure = this.#failed(pick, result.failure, latencyMs);
    if (result.kind === "refused") return failure;
    const detail = `nobody knows whether it arrived: ${failure.message}`;
    await this.#pass.leave({ state: "unknown", dueAt: clock.now() + unknownFirstLookMs, detail });
    const message = "Nobody knows whether a video task arrived at its upstream; it is not sent again.";
    const fields = { task: this.#pass.task.id, provider: provider.id, reason: failure.message };
    this.#dependencies.observer.log("warn", message, fields);
    return null;
  }

  /** Notes that it is sent now. False: another pass has the task, so nothing is sent. */
  async #begin({ deployment, model }: Pick): Promise<boolean> {
    const pass = this.#pass;
    const now = this.#dependencies.clock.now();
    const { provider, upstreamModel } = deployment;
    // A fallback is paid at its own price, since its vendor charges for the video; one without a price at that of the model asked for.
    const price = model.price === null ? null : videoPrice(model.price, pass.task.asked);
    const begin = {
      state: "submitting" as const,
      account: accountOf(provider),
      deployment: deployment.id,
      upstreamModel,
      servedModel: model.name === pass.task.model ? null : model.name,
      ...(price === null ? {} : { priceVersion: price.id, priceTable: price.table }),
      submittedAt: now,
      dueAt: now + bounds.taskSubmitLeaseMs,
      detail: remarkSentence("taskEvent", { code: "sent", params: { provider: provider.id, model: upstreamModel } }),
    };
    if (await pass.step(begin)) return true;
    return this.#sent && (await pass.insist()) === "again" && (await pass.step(begin));
  }

  /** A task has one attempt in the ledger, however many accounts it was offered to. */
  #failed(pick: Pick, failure: Failure, latencyMs: number): Failure {
    pick.end(failure, latencyMs);
    const { code, retry } = failure;
    const message = upstreamWords(`${pick.deployment.provider.id}: ${refusalAsError(failure).message}`);
    this.#failures.push({ attemptId: this.#pass.task.attemptId, code, message, retry });
    return failure;
  }

  /**
   * Notes what the upstream calls the task: the one thing that nobody else knows. A lease that was lost meanwhile is asked for
   * again, and a store that fails is tried again, for a while; after that only the vendor's list can find the task.
   */
  async #keepAccepted(upstreamId: string): Promise<void> {
    const { clock, chance, observer } = this.#dependencies;
    const pass = this.#pass;
    let reason: unknown = null;
    let late = false;
    for (let tries = 0; tries < triesMax; tries++) {
      try {
        // A task that was taken for lost may have been found in the list meanwhile, as another one that asks for the same.
        if (late && !(await pass.claim(upstreamId))) return;
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

const pauseMs = 500;
const triesMax = Math.ceil((2 * bounds.taskLeaseMs) / pauseMs);

const accepted = remarkSentence("taskEvent", { code: "accepted", params: {} });

/** What an upstream said is worth more to the caller than that nothing else was there to try. */
function betterOf(before: Failure | null, later: Failure): Failure {
  if (before === null) return later;
  return later.code === "no_deployment_available" || later.code === "unsupported_by_model" ? before : later;
}
