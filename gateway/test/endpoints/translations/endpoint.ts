import type { PassedEndpoint } from "../passed-suite.ts";
import { transcriptionsEndpoint } from "../transcriptions/endpoint.ts";

export const translationsEndpoint: PassedEndpoint = {
  ...transcriptionsEndpoint,
  path: "/v1/audio/translations",
  endpoint: "translations",
};
