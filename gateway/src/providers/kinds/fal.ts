import { defineKind } from "../define-kind.ts";
import { authorizeWith } from "../openai-shaped.ts";
import { falVideo } from "../video/fal.ts";

/** Models are named owner/app/path. The variable is its client's. */
export const fal = defineKind({
  id: "fal",
  title: "fal",
  baseUrl: "https://queue.fal.run",
  envKey: "FAL_KEY",
  apiKeyHelp: "Create one at fal.ai, under Keys.",
  video: falVideo,
  authorize: authorizeWith("authorization", "Key "),
});
