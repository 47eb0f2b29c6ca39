import { defineKind } from "../define-kind.ts";
import { authorizeBearer } from "../openai-shaped.ts";
import { runwayVideo } from "../video/runway.ts";

/** Every call sends the API version. */
export const runway = defineKind({
  id: "runway",
  title: "Runway",
  baseUrl: "https://api.dev.runwayml.com",
  envKey: "RUNWAYML_API_SECRET",
  apiKeyHelp: "A secret; create one at dev.runwayml.com, under API keys.",
  envBaseUrl: "RUNWAYML_BASE_URL",
  video: runwayVideo,
  authorize: (draft) => {
    authorizeBearer(draft);
    draft.headers["x-runway-version"] ??= "2024-11-06";
  },
});
