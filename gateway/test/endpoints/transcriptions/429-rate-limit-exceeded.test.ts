import { rateLimits } from "../forwarding-suite.ts";
import { transcriptionsEndpoint } from "./endpoint.ts";

rateLimits(transcriptionsEndpoint);
