import type { Failure, Provider, Task } from "#core/index.ts";
import { explanationOf, type FailedAttempt, upstreamWords } from "#relay/index.ts";
import type { Place, Plan } from "#routing/index.ts";
import type { TaskDependencies } from "./dependencies.ts";
import { refusalAsError } from "./submit/refusal-for-caller.ts";

/** What a submission has gone through, for whoever asks why it ended where it did. */
export class SubmissionStory {
  readonly plans: Plan[] = [];
  readonly failures: FailedAttempt[] = [];
  /** Why there was no plan, when there was none in any stage. */
  noPlan: { readonly failure: Failure; readonly places: readonly Place[] } | null = null;

  /** A task has one attempt in the ledger, however many accounts it was offered to. */
  failed(task: Pick<Task, "attemptId">, provider: Provider, failure: Failure): void {
    const { message } = refusalAsError(failure);
    this.failures.push({
      attemptId: task.attemptId,
      code: failure.code,
      message: upstreamWords(`${provider.id}: ${message}`),
      retry: failure.retry,
    });
  }
}

/** Tells of a submission that is over; nothing when there was one way and it was gone. */
export function explainSubmission(
  { explainer }: Pick<TaskDependencies, "explainer">,
  task: Pick<Task, "requestId" | "workspaceId">,
  { plans, failures, noPlan }: SubmissionStory,
): void {
  const refused = plans.length === 0 ? noPlan : null;
  const matters = failures.length > 0 || refused !== null;
  if (!matters && !plans.some(({ chosen }) => chosen)) return;
  explainer.explain({
    requestId: task.requestId,
    workspaceId: task.workspaceId,
    matters,
    explanation: () => {
      const stories = plans.map((plan) => plan.explain());
      const places = refused?.places ?? stories.flatMap((story) => story.places);
      const steps = stories.flatMap((story) => story.steps);
      return explanationOf({ places, steps }, refused?.failure ?? null, failures);
    },
  });
}
