import type { ForwardedEndpoint } from "../forwarding-suite.ts";
import { transcriptionsEndpoint } from "../transcriptions/endpoint.ts";

export const translationsEndpoint: ForwardedEndpoint = {
  ...transcriptionsEndpoint,
  path: "/v1/audio/translations",
  endpoint: "translations",
};
