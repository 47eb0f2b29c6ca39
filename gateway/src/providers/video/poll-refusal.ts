import type { Failure } from "#core/index.ts";
import { objectOf, textOf } from "#protocols/index.ts";
import { refusalObject } from "../classify-by-status.ts";
import type { BadAnswer } from "../outbound-draft.ts";
import type { VideoAdapter } from "../video-adapter.ts";

/**
 * Bad answers to polls. Only a 404 in the vendor's own form says that a task is gone: one without it may come from a
 * proxy, or from a base URL that is wrong.
 */
export function pollRefusals(
  classify: (answer: BadAnswer) => Failure,
  isAboutTask: (answer: BadAnswer) => boolean,
): NonNullable<VideoAdapter["classifyPoll"]> {
  return (answer) => ({ gone: answer.status === 404 && isAboutTask(answer), failure: classify(answer) });
}

/** `{"error":{code}}` with a code that does not speak of the model or the account instead. */
export function hasErrorObject(answer: BadAnswer): boolean {
  const error = objectOf(refusalObject(answer.body)["error"]);
  const code = textOf(error["code"]) ?? textOf(error["type"]);
  return code !== null && !/model|endpoint|url|route|path/i.test(code);
}
