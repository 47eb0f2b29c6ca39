import { Failure, type Model, shownState, type Task, type TaskRequest } from "#core/index.ts";
import { videoKindOf } from "../video-lane-match.ts";
import type { VideoRequest } from "./validate-video.ts";

/**
 * What a remix is asked for: the new words, and what its video had, by which it is priced. Throws invalid_request for a video
 * that is not there to be made anew, unsupported_by_model where its upstream does not do that or is not this model's.
 */
export function askedAnew({ asked }: VideoRequest, video: Task, models: readonly Model[]): TaskRequest {
  const { account, upstreamModel, usage } = video;
  if (video.state !== "succeeded" || account === null) {
    throw refusal("invalid_request", `The video cannot be made anew: it is ${shownState(video.state)}.`);
  }
  if (videoKindOf(account.kind)?.adapter.remixes !== true) {
    throw refusal("unsupported_by_model", `The upstream of the model "${video.model}" makes no remixes of its videos.`);
  }
  const served = models.some(({ deployments }) =>
    deployments.some((one) => one.provider.id === account.providerId && one.upstreamModel === upstreamModel),
  );
  if (!served) {
    throw refusal("unsupported_by_model", `The model "${models[0]?.name}" is not served by the upstream of the video.`);
  }
  const { ratio, resolution, durationSeconds, audio } = video.asked;
  const told = Math.ceil(usage?.videoSeconds ?? 0);
  return { ...asked, ratio, resolution, audio, durationSeconds: durationSeconds ?? (told > 0 ? told : null) };
}

function refusal(code: "invalid_request" | "unsupported_by_model", message: string): Failure {
  return new Failure(code, message, { param: "remix_of" });
}
