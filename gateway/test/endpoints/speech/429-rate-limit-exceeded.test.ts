import { rateLimits } from "../forwarding-suite.ts";
import { speechEndpoint } from "./endpoint.ts";

rateLimits(speechEndpoint);
