import type { BackgroundResponses } from "#relay/index.ts";

/** For relays whose upstreams make nothing in the background. */
export const noBackground = (): BackgroundResponses => responses;

const responses: BackgroundResponses = { hold: async () => undefined, refresh: async () => undefined };
