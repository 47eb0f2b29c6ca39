import type { Failure, Provider, Task, TaskError } from "#core/index.ts";
import { isObject, openaiChat, textOf } from "#protocols/index.ts";
import { explanationOf, type FailedAttempt, upstreamWords } from "#relay/index.ts";
import type { Place, Plan } from "#routing/index.ts";
import type { TaskDependencies } from "../dependencies.ts";

/**
 * An upstream's refusal in the shape of our own errors: every vendor of videos has another. What it said stays, as far
 * as it can be found; its status stays too. A failure that is not the upstream's own words is given back as it is.
 */
export function refusalForCaller(failure: Failure, requestId: string): Failure {
  if (failure.upstream === undefined) return failure;
  const { status, body } = failure.upstream;
  // What a vendor says of its own state is told in our words.
  const { code, message } = status >= 500 ? { code: "overloaded", message: failure.message } : wordsIn(body, status);
  const words = openaiChat.renderRefusal({ status, message, code, contextLength: false }, requestId);
  return failure.with({
    message,
    upstream: {
      status: status >= 500 ? 503 : status,
      contentType: "application/json",
      body: new TextEncoder().encode(words),
    },
  });
}

/** The same for the task's own row. */
export function refusalAsError(failure: Failure): TaskError {
  if (failure.upstream === undefined || failure.upstream.status >= 500) {
    return { code: failure.code, message: failure.message };
  }
  const { code, message } = wordsIn(failure.upstream.body, failure.upstream.status);
  return { code: code ?? failure.code, message };
}

/** `{error:{code,message}}`, `{code,message}`, `{error:"…"}`, `{title,detail}`, `{base_resp:{status_code,status_msg}}`. */
function wordsIn(body: Uint8Array, status: number): { readonly code: string | null; readonly message: string } {
  const whole = parsed(body);
  for (const name of ["error", "base_resp", ""]) {
    const value = name === "" ? whole : whole[name];
    if (typeof value === "string" && value !== "") return { code: null, message: value.slice(0, messageMax) };
    if (!isObject(value)) continue;
    const message = ["message", "status_msg", "detail", "title", "err_msg"]
      .map((key) => textOf(value[key]))
      .find(Boolean);
    if (message == null) continue;
    const code = value["code"] ?? value["status_code"] ?? value["type"] ?? null;
    const told = typeof code === "string" || typeof code === "number" ? String(code).slice(0, codeMax) : null;
    return { code: told, message: message.slice(0, messageMax) };
  }
  return { code: null, message: `The upstream answered ${status}.` };
}

const messageMax = 2_000;
const codeMax = 128;

function parsed(body: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body));
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

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
