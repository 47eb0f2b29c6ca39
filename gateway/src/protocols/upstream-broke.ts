import { type Answer, Failure } from "#core/index.ts";

/** An upstream that does not keep to its dialect, or says that it failed. Another may serve. */
export function upstreamBroke(message: string): Failure {
  return new Failure("upstream_error", message, { retry: "other", unhealthy: true });
}

/** An answer that keeps to its dialect and holds what is not carried, or more than is held. The deployment is well. */
export function notCarried(message: string): Failure {
  return new Failure("upstream_error", message, { retry: "other" });
}

/** What came first in a stream is no event of its dialect: the rest of it is not passed on. */
export function firstEventBroken(): Failure {
  return upstreamBroke("The upstream's first event is not valid JSON.");
}

/** The upstream ended its answer itself, and says that it ended in an error. */
export function brokenAnswer(): Failure {
  return new Failure("upstream_error", "The upstream could not finish its answer.", { retry: "other" });
}

/** The answer, unless it ended in an error. Throws Failure upstream_error. */
export function unbroken(answer: Answer): Answer {
  if (answer.finish.reason === "error") throw brokenAnswer();
  return answer;
}
