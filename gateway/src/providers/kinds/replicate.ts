import { defineKind } from "../define-kind.ts";
import { replicateVideo } from "../video/replicate.ts";

/** Models are named owner/name, or by a version. The variable is its client's. */
export const replicate = defineKind({
  id: "replicate",
  title: "Replicate",
  baseUrl: "https://api.replicate.com/v1",
  envKey: "REPLICATE_API_TOKEN",
  apiKeyHelp: "A token; create one at replicate.com, under API tokens.",
  video: replicateVideo,
});
