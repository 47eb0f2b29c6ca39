import { classifyGoogleShaped } from "../google-shaped.ts";
import { settingText } from "../settings.ts";
import type { VideoAdapter } from "../video-adapter.ts";
import { answerObject } from "./answer.ts";
import { pollRefusals } from "./poll-refusal.ts";
import { refuseSound, seedOf, unsupported } from "./unsupported.ts";
import {
  elsewhere,
  isMissing,
  isSilent,
  readVeoName,
  veoBody,
  veoCapabilities,
  veoState,
  veoUsualSeconds,
} from "./veo.ts";
import { type RootOf, videoDraft } from "./video-draft.ts";

/**
 * Veo on Google Cloud. Without a bucket (`settings.storage_uri`, `gs://…`) the whole video would come inside each answer
 * to a poll, as base64; so one is asked for. The bytes are read from it with the account's token.
 */
export function veoOnVertex(rootOf: RootOf): VideoAdapter {
  return {
    capabilities: (upstreamModel) => ({ ...veoCapabilities(upstreamModel), seed: true }),
    create: ({ provider, upstreamModel, turn }) => {
      const storageUri = settingText(provider, "storage_uri");
      if (storageUri === null) {
        throw unsupported("model", "The provider needs settings.storage_uri, a bucket for its videos.");
      }
      if (isSilent(upstreamModel)) refuseSound(turn);
      const also = {
        seed: seedOf(turn),
        // Veo 2 does not know the member (K).
        generateAudio: isSilent(upstreamModel) ? undefined : (turn.audio ?? undefined),
        storageUri,
      };
      const url = `${modelUrl(rootOf(provider), upstreamModel)}:predictLongRunning`;
      return videoDraft({ provider, upstreamModel, method: "POST", url, json: veoBody(turn, also) });
    },
    readCreated: readVeoName,
    poll: (provider, upstreamModel, upstreamId) => {
      const url = `${modelUrl(rootOf(provider), upstreamModel)}:fetchPredictOperation`;
      return videoDraft({ provider, upstreamModel, method: "POST", url, json: { operationName: upstreamId } });
    },
    readState: (answer) => veoState(answerObject(answer)),
    classifyPoll: pollRefusals(classifyGoogleShaped, isMissing),
    content: (provider, url) => {
      const [, bucket = "", object = ""] = /^gs:\/\/([^/]+)\/(.+)$/.exec(url) ?? [];
      if (bucket === "") throw elsewhere();
      const path = `b/${encodeURIComponent(bucket)}/o/${encodeURIComponent(object)}`;
      return videoDraft({
        provider,
        url: `https://storage.googleapis.com/storage/v1/${path}?alt=media`,
        headers: { accept: "*/*" },
      });
    },
    usualSeconds: veoUsualSeconds,
    materialAs: "data",
  };
}

function modelUrl(root: string, upstreamModel: string): string {
  return `${root}/publishers/google/models/${encodeURIComponent(upstreamModel)}`;
}
